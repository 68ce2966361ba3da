internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

/// The options that say how to reach a server, spelled as in curl.
struct NetworkOptions: ParsableArguments {
  @Option(
    name: [.customShort("x"), .long],
    help: ArgumentHelp("Reach the server through the proxy at URL; an empty one means none", valueName: "url"))
  var proxy: String?

  @Option(
    name: .customLong("cacert"), help: "Trust the certificates in FILE (PEM), and no others", completion: .file())
  var authorityFile: String?

  @Option(
    name: [.customShort("E"), .customLong("cert")],
    help: "Show the certificate in FILE (PEM) to a server that asks for one", completion: .file())
  var certificate: String?

  @Option(help: "Read the private key of the certificate from FILE (PEM)", completion: .file())
  var key: String?

  @Flag(
    name: [.customShort("k"), .long],
    help: "Accept a server that cannot prove who it is; its answer is not stored")
  var insecure = false

  @Flag(help: "Ask for compressed content, and print it decompressed; the cache keeps it as it came")
  var compressed = false

  func validate() throws(ValidationError) {
    if key != nil, certificate == nil { throw ValidationError("--key goes with --cert") }
    if insecure, authorityFile != nil { throw ValidationError("--insecure and --cacert exclude each other") }
  }

  /// What the options ask of a transfer.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest`: a named file cannot be used.
  var demands: TransferDemands {
    get throws(CacheError) {
      let demands = TransferDemands(
        network: Configuration.Network(
          proxy: proxy, authorityFile: authorityFile, clientCertificate: certificate, clientKey: key),
        isInsecure: insecure, isCompressed: compressed)
      try demands.check()
      return demands
    }
  }
}
