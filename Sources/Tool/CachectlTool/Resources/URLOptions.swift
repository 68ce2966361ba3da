internal import CacheBase
internal import CacheData
internal import CurlTransport
internal import HTTPCaching

/// The options that describe the request for a URL, spelled as in curl.
struct URLOptions: ExplainableOptions {
  typealias Display = OutputOptions

  static var resourceName: String { "url" }
  static var explainExamples: [String] { ["cachectl explain url https://example.com/ -H 'Accept: text/*'"] }

  @Argument(help: ArgumentHelp("The URL, http or https", valueName: "url"))
  var address: String?

  @Option(name: .customLong("url"), help: ArgumentHelp("The URL, if it is not an argument", valueName: "url"))
  var namedAddress: String?

  @Option(
    name: [.customShort("H"), .customLong("header")],
    help: ArgumentHelp(
      #"Send the field LINE, 'Name: value', or 'Name: {"env": "VARIABLE"}' for a secret; or the lines of FILE"#,
      valueName: "line|@file"))
  var headers: [String] = []

  @Option(
    name: [.customShort("u"), .long],
    help: ArgumentHelp("Log in as USER with PASSWORD (Basic)", valueName: "user:password"))
  var user: String?

  @Option(
    name: [.customShort("b"), .customLong("cookie")],
    help: ArgumentHelp("Send the cookie NAME with VALUE; several are joined", valueName: "name=value"))
  var cookies: [String] = []

  @Option(
    name: [.customShort("A"), .long],
    help: ArgumentHelp("Send NAME as User-Agent, or no such field if it is empty", valueName: "name"))
  var userAgent: String?

  @Option(name: [.customShort("e"), .long], help: ArgumentHelp("Send URL as Referer", valueName: "url"))
  var referer: String?

  @Option(
    name: [.customShort("X"), .customLong("request"), .customLong("method")],
    help: ArgumentHelp("Use METHOD instead of GET, or of POST if there is content", valueName: "method"))
  var method: String?

  @OptionGroup
  var content: ContentOptions

  @Flag(name: [.customShort("I"), .long], help: "Request only the header; the same as --request HEAD")
  var head = false

  @Option(
    name: [.customLong("max-redirs"), .customLong("max-redirects")],
    help: ArgumentHelp("Follow at most N redirects; 0 shows a redirect itself", valueName: "n"))
  var maxRedirects = 5

  @Flag(name: [.customShort("s"), .long], help: "Print only the content and errors; the same as --quiet")
  var silent = false

  @Flag(
    name: [
      .customShort("S"), .customLong("show-error"), .customShort("L"), .customLong("location"), .customShort("N"),
      .customLong("no-buffer"),
    ],
    help: "Accepted as in curl: cachectl shows errors, follows redirects and does not buffer")
  var isLikeCurl = false

  @Flag(
    name: [.customShort("g"), .customLong("globoff"), .customLong("basic"), .customLong("no-progress-meter")],
    help: "Accepted as in curl, without effect")
  var isAlsoLikeCurl = false

  @Flag(help: "Keep . and .. in the path of the URL")
  var pathAsIs = false

  @OptionGroup(title: "Network")
  var network: NetworkOptions

  /// The URL, as it was given.
  var url: String { address ?? namedAddress ?? "" }

  func validate() throws(ValidationError) {
    if address == nil, namedAddress == nil { throw ValidationError("the URL is missing") }
    if address != nil, namedAddress != nil { throw ValidationError("give one URL, as an argument or with --url") }
    if !url.holds("://") {
      let names = Cachectl.current.resources.map { $0.options.resourceName }.filter { $0 != Self.resourceName }
      throw ValidationError(
        "'\(url)' is not a URL such as https://\(url), and not a resource (\(names.joined(separator: ", ")))")
    }
    if headers.contains(where: { !RequestHeader.isLine($0) && (!$0.hasPrefix("@") || $0 == "@") }) {
      throw ValidationError(
        "--header is written 'Name: value', 'Name:' to send none, 'Name;' to send it empty, or @FILE")
    }
    if cookies.contains(where: { !$0.utf8.contains(UInt8(ascii: "=")) && SecretValue.variable(in: $0) == nil }) {
      throw ValidationError("--cookie is written 'name=value': it reads no file of cookies")
    }
    if head, method != nil || content.isContent {
      throw ValidationError("--head excludes --request and content; with --get, the data is part of the URL")
    }
    if !(0...50).contains(maxRedirects) { throw ValidationError("--max-redirs is a number from 0 to 50") }
  }

  /// Fetches the response to a request through the cache.
  typealias Fetch = @Sendable (ResourceContext, TransferDemands, FetchOptions) -> Snapshots<LocatedResponse>

  /// The repository that fetches the response to the request.
  ///
  /// - Throws: `CacheError`: `ioFailed` if a file cannot be read; `invalidRequest` if a header field is malformed, or the
  ///   variable with its value is not set.
  var fetch: Fetch {
    get throws(CacheError) {
      let header = try RequestHeader(self)
      var request = HTTP.Request(
        method: head ? "HEAD" : method ?? (content.isContent ? "POST" : "GET"), url: try content.applied(to: url),
        fields: HTTP.Fields(header.fields), body: try content.bytes(), stream: try content.stream())
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
}

extension ToolResource {
  /// Any URL.
  public static var url: ToolResource { ToolResource(noun: "any URL", FetchURLCommand.self, explain: URLOptions.self) }
}

/// The options that say how to reach a server, spelled as in curl.
struct NetworkOptions: ParsableArguments {
  @Option(
    name: [.customShort("x"), .long],
    help: ArgumentHelp("Connect through the proxy at URL, or through none if it is empty", valueName: "url"))
  var proxy: String?

  @Option(
    name: .customLong("cacert"),
    help: ArgumentHelp("Trust only the certificates in FILE (PEM)", valueName: "file"), completion: .file())
  var authorityFile: String?

  @Option(
    name: [.customShort("E"), .customLong("cert")],
    help: ArgumentHelp("Show the certificate in FILE (PEM) to a server that wants one", valueName: "file"),
    completion: .file())
  var certificate: String?

  @Option(
    help: ArgumentHelp("Read the private key of the certificate from FILE (PEM)", valueName: "file"),
    completion: .file())
  var key: String?

  @Flag(
    name: [.customShort("k"), .long],
    help: "Accept a server that cannot prove who it is; its response is not stored")
  var insecure = false

  @Flag(help: "Request compressed content, and print it decompressed; the cache stores it compressed")
  var compressed = false

  @Option(
    name: [.customShort("m"), .long],
    help: ArgumentHelp("Stop after SECONDS, such as 0.5; 0 means no limit", valueName: "seconds"))
  var maxTime: Seconds?

  @Option(help: ArgumentHelp("Stop after SECONDS without a connection; 0 means the default", valueName: "seconds"))
  var connectTimeout: Seconds?

  @Flag(name: [.customShort("4"), .long], help: "Use only addresses of IPv4")
  var ipv4 = false

  @Flag(name: [.customShort("6"), .long], help: "Use only addresses of IPv6")
  var ipv6 = false

  @Option(
    help: ArgumentHelp("Retry up to N times if the server is busy, fails or cannot be reached", valueName: "n"))
  var retry: Int?

  func validate() throws(ValidationError) {
    if let retry, !(0...100).contains(retry) { throw ValidationError("--retry is a number from 0 to 100") }
    if key != nil, certificate == nil { throw ValidationError("--key requires --cert") }
    if insecure, authorityFile != nil { throw ValidationError("--insecure and --cacert exclude each other") }
    if ipv4, ipv6 { throw ValidationError("--ipv4 and --ipv6 exclude each other") }
  }

  /// The options' demands on a transfer.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest`: a named file cannot be used.
  var demands: TransferDemands {
    get throws(CacheError) {
      var demands = TransferDemands(
        network: Configuration.Network(
          proxy: proxy, authorityFile: authorityFile, clientCertificate: certificate, clientKey: key),
        isInsecure: insecure, isCompressed: compressed)
      demands.maxTime = maxTime?.limit
      demands.connectTimeout = connectTimeout?.limit
      demands.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil
      demands.retries = retry
      try demands.check()
      return demands
    }
  }
}

/// A time limit in seconds, with or without a fraction. As in curl, 0 means none.
struct Seconds: ExpressibleByArgument {
  /// The limit; `nil` for none.
  let limit: Duration?

  init?(argument: String) {
    guard let seconds = Double(argument), seconds >= 0, seconds <= 1_000_000 else { return nil }
    limit = seconds == 0 ? nil : .seconds(seconds)
  }

  static var argumentExpectation: String? { "a number of seconds, such as 30 or 0.5" }
}
