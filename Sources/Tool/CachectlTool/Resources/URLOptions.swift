internal import CacheData
internal import HTTPCaching

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

  @Option(
    name: [.customShort("A"), .long],
    help: ArgumentHelp("Send this User-Agent; an empty one means none", valueName: "name"))
  var userAgent: String?

  @Option(name: [.customShort("e"), .long], help: ArgumentHelp("Send this Referer", valueName: "url"))
  var referer: String?

  @Option(
    name: [.customShort("X"), .customLong("request"), .customLong("method")],
    help: ArgumentHelp("Use this method instead of GET, or of POST if there is content", valueName: "method"))
  var method: String?

  @OptionGroup
  var content: ContentOptions

  @Flag(name: [.customShort("I"), .long], help: "Request the header alone; the same as --request HEAD")
  var head = false

  @Option(
    name: [.customLong("max-redirs"), .customLong("max-redirects")],
    help: ArgumentHelp("Follow at most N redirects; with 0 show a redirect itself", valueName: "n"))
  var maxRedirects = 5

  @Flag(
    name: [
      .customShort("s"), .customLong("silent"), .customShort("S"), .customLong("show-error"), .customShort("L"),
      .customLong("location"),
    ],
    help: "Accepted for curl's sake: cachectl prints no progress in pipes, shows errors and follows redirects")
  var isLikeCurl = false

  @Flag(help: "Keep . and .. in the path of the URL, which are resolved otherwise")
  var pathAsIs = false

  @OptionGroup
  var network: NetworkOptions

  func validate() throws(ValidationError) {
    if !url.utf8.contains(UInt8(ascii: ":")) {
      let names = Cachectl.current.resources.map { $0.options.resourceName }.filter { $0 != Self.resourceName }
      throw ValidationError(
        "'\(url)' is not a URL such as https://example.com/path, and not a resource (\(names.joined(separator: ", ")))")
    }
    if headers.contains(where: { !RequestHeader.isLine($0) && (!$0.hasPrefix("@") || $0 == "@") }) {
      throw ValidationError(
        "--header is written 'Name: value', 'Name:' to send none, 'Name;' to send it empty, or @FILE")
    }
    if cookies.contains(where: { !$0.utf8.contains(UInt8(ascii: "=")) && SecretValue.variable(in: $0) == nil }) {
      throw ValidationError("--cookie is written 'name=value': it reads no file of cookies")
    }
    if head, method != nil || content.isContent {
      throw ValidationError("--head goes with neither --request nor content")
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
      var request = HTTPRequest(
        method: head ? "HEAD" : method ?? (content.isContent ? "POST" : "GET"), url: try content.applied(to: url),
        fields: HTTPFields(header.fields), body: try content.bytes(), stream: try content.stream())
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

  /// The options' demands on a transfer.
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
