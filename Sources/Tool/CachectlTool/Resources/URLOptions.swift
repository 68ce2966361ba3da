internal import CacheData
internal import HTTPCaching
internal import Synchronization

/// The options that describe the request for a URL, spelled as in curl.
struct URLOptions: ExplainableOptions {
  static var resourceName: String { "url" }

  @Argument(help: "The URL, http or https")
  var url: String

  @Option(
    name: [.customShort("H"), .customLong("header")],
    help: ArgumentHelp(
      #"A header field to send, 'Name: {"env": "VARIABLE"}' to keep its value secret, or @FILE to read lines of fields"#,
      valueName: "name: value|@file"))
  var headers: [String] = []

  @Option(
    name: [.customShort("u"), .long],
    help: ArgumentHelp("Log in with this name and password (Basic)", valueName: "user:password"))
  var user: String?

  @Option(
    name: [.customShort("b"), .customLong("cookie")],
    help: ArgumentHelp("The cookies to send; several are joined", valueName: "name=value; ..."))
  var cookies: [String] = []

  @Option(name: [.customShort("X"), .long], help: "The method; GET, or POST where there is data")
  var method: String?

  @Option(
    name: [.customShort("d"), .long],
    help: ArgumentHelp(
      "The content to send, or @FILE to read it from; several texts are joined by &", valueName: "text|@file"))
  var data: [String] = []

  @Flag(name: [.customShort("I"), .long], help: "Ask for the header alone; the same as --method HEAD")
  var head = false

  @Option(help: ArgumentHelp("Follow N redirections at most; with 0 show a redirection as it is", valueName: "n"))
  var maxRedirects = 5

  @Flag(help: "Keep . and .. in the path of the URL, which are resolved otherwise")
  var pathAsIs = false

  @OptionGroup
  var network: NetworkOptions

  func validate() throws(ValidationError) {
    if headers.contains(where: { !RequestHeader.isLine($0) && (!$0.hasPrefix("@") || $0 == "@") }) {
      throw ValidationError(
        "--header is written 'Name: value', 'Name:' to send none, 'Name;' to send it empty, or @FILE")
    }
    if cookies.contains(where: { !$0.utf8.contains(UInt8(ascii: "=")) && SecretValue.variable(in: $0) == nil }) {
      throw ValidationError("--cookie is written 'name=value': it reads no file of cookies")
    }
    if data.count > 1, data.contains(where: { $0.hasPrefix("@") }) {
      throw ValidationError("--data @FILE is all of the content: give it alone")
    }
    if head, method != nil || !data.isEmpty { throw ValidationError("--head goes with neither --method nor --data") }
    if !(0...50).contains(maxRedirects) { throw ValidationError("--max-redirects is a number from 0 to 50") }
  }

  /// Fetches the response to a request through the cache.
  typealias Fetch = @Sendable (ResourceContext, TransferDemands, FetchOptions) -> Snapshots<LocatedResponse>

  /// What fetches the response to the request.
  ///
  /// - Throws: `CacheError`: `ioFailed` if a file cannot be read; `invalidRequest` if a header field is malformed, or the
  ///   variable with its value is not set.
  var fetch: Fetch {
    get throws(CacheError) {
      let header = try RequestHeader(headers, user: user, cookies: cookies)
      var request = HTTPRequest(
        method: head ? "HEAD" : method ?? (data.isEmpty ? "GET" : "POST"), url: url, fields: HTTPFields(header.fields),
        body: text, stream: try stream)
      request.keepsDotSegments = pathAsIs
      request.secretFields = header.secretNames
      return { [request, maxRedirects] context, demands, options in
        context.makeURLRepository(demands)
          .response(
            to: request, maxRedirects: maxRedirects, unwantedFields: header.unwantedNames, options: options)
      }
    }
  }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<LocatedResponse> {
    try fetch(context, try network.demands, options)
  }

  /// The content given on the command line.
  private var text: [UInt8] { file == nil ? Array(data.joined(separator: "&").utf8) : [] }

  /// The file that holds the content.
  private var file: Substring? { data.first.flatMap { $0.hasPrefix("@") ? $0.dropFirst() : nil } }

  /// The content of the file, which is read as it is sent.
  private var stream: StreamedContent? {
    get throws(CacheError) {
      guard let name = file else { return nil }
      let file = try InputFile(String(name))
      let left = Mutex(file.length ?? .max)
      // A file that grows meanwhile, such as a log, is sent up to the length it had at the start.
      return StreamedContent(length: file.length) { () async throws(CacheError) in
        let bytes = try await file.next()
        let sent = left.withLock { left in
          defer { left -= min(left, bytes.count) }
          return bytes.prefix(left)
        }
        return sent.isEmpty ? nil : Array(sent)
      }
    }
  }
}

extension ToolResource {
  /// Any URL.
  public static var url: ToolResource { ToolResource(noun: "any URL", FetchURLCommand.self, explain: URLOptions.self) }
}

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
