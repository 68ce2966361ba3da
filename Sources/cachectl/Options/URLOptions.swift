internal import ArgumentParser
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
    _ = try fields
  }

  /// The request.
  ///
  /// - Throws: `CacheError` with the code `ioFailed` where the file cannot be read; `ValidationError`.
  var query: URLQuery {
    get throws {
      let body = try data.map { text in
        text.hasPrefix("@") ? try InputFile.bytes(of: String(text.dropFirst())) : Array(text.utf8)
      }
      return URLQuery(
        url: url, method: method ?? (data == nil ? "GET" : "POST"), fields: try fields, body: body ?? [])
    }
  }

  private var fields: [URLQuery.Field] {
    get throws(ValidationError) {
      try headers.map { header throws(ValidationError) in
        guard let colon = header.firstIndex(of: ":"), colon > header.startIndex else {
          throw ValidationError("--header is written 'Name: value'")
        }
        let value = header[header.index(after: colon)...].drop { $0 == " " }
        return URLQuery.Field(name: String(header[..<colon]), value: String(value))
      }
    }
  }
}
