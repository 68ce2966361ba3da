internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

/// The options that say which request for a URL is meant, spelled as curl spells them.
struct URLOptions: ParsableArguments {
  @Argument(help: "The URL, http or https")
  var url: String

  @Option(name: .customLong("header"), help: ArgumentHelp("A header field to send", valueName: "name: value"))
  var headers: [String] = []

  @Option(help: "The method; GET, or POST where there is data")
  var method: String?

  @Option(help: ArgumentHelp("The content to send, or @FILE to read it from", valueName: "text|@file"))
  var data: String?

  func validate() throws(ValidationError) {
    if headers.contains(where: { Self.field($0) == nil }) { throw ValidationError("--header is written 'Name: value'") }
  }

  /// The request.
  ///
  /// - Throws: `CacheError` with the code `ioFailed` where the file with the content cannot be read.
  var query: URLQuery {
    get throws(CacheError) {
      URLQuery(
        url: url, method: method ?? (data == nil ? "GET" : "POST"), fields: headers.compactMap { Self.field($0) },
        body: try body)
    }
  }

  /// How large the content may be: it is held in memory.
  private static let maximumDataSize = 64 << 20

  private var body: [UInt8] {
    get throws(CacheError) {
      guard let data else { return [] }
      guard data.hasPrefix("@") else { return Array(data.utf8) }
      return try InputFile.bytes(
        of: String(data.dropFirst()), limit: Self.maximumDataSize, code: .invalidRequest,
        hint: "send so much with another tool: what is sent is not cached")
    }
  }

  private static func field(_ header: String) -> URLQuery.Field? {
    guard let colon = header.firstIndex(of: ":"), colon > header.startIndex else { return nil }
    let value = header[header.index(after: colon)...].drop { $0 == " " }
    return URLQuery.Field(name: String(header[..<colon]), value: String(value))
  }
}

extension URLOptions: ExplainableOptions {
  static var resourceName: String { "url" }

  func snapshots(
    _ container: AppDIContainer, _ store: OpenStore, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<URLAnswer> {
    container.makeURLsDIContainer(store).makeFetchURLUseCase().execute(try query, options: options)
  }
}
