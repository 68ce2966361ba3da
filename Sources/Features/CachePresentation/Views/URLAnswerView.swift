public import CacheDomain
public import HTTPCaching

/// The response of a URL, without its content.
public struct URLAnswerView: SingleRecordView {
  private let origin: SnapshotOrigin
  private let url: String
  private let response: HTTPResponse

  /// The view of `snapshot`, which came through the store called `backend`.
  public init(_ snapshot: Snapshot<LocatedResponse>, backend: String?) {
    self.origin = SnapshotOrigin(snapshot, backend: backend)
    self.url = snapshot.value.url
    self.response = snapshot.value.response
  }

  /// The document: the members of every fetch, then "url", "status", "headers" (a list of {"name", "value"}), "bytes"
  /// (null if a response still coming in does not say), and "body" if the content is text and complete.
  public var json: JSONValue {
    let headers = response.head.fields.lines.map {
      ["name": .string($0.name), "value": .string($0.value)] as JSONValue
    }
    let body = response.rest == nil ? String(validating: response.body, as: UTF8.self) : nil
    return .object(
      origin.members(resource: "url") + [
        .init("url", .string(url)), .init("status", .integer(response.head.status)),
        .init("headers", .array(headers)), .init("bytes", JSONValue(byteCount)), .init("body", JSONValue(body)),
      ])
  }

  private var byteCount: Int? {
    guard let rest = response.rest else { return response.body.count }
    return rest.length.map { response.body.count + $0 }
  }

  /// The status line and the header fields as they came, in the form of HTTP/1.1 and with an empty line at the end.
  /// Those of interim responses come first.
  public var head: String { (response.interim + [response.head]).map(Self.head).joined() }

  /// The fields after the content, in the form of HTTP/1.1. Content that is still coming in has them only at its end.
  public var trailers: String { Self.lines(response.rest?.trailers ?? response.trailers) }

  private static func head(_ head: HTTPResponseHead) -> String {
    let version = head.version?.rawValue ?? "HTTP/1.1"
    return "\(version) \(head.status) \(oneLine(head.reason ?? ""))\r\n\(lines(head.fields))\r\n"
  }

  private static func lines(_ fields: HTTPFields) -> String {
    fields.lines.map { "\($0.name): \(oneLine($0.value))\r\n" }.joined()
  }

  /// `text`, in which a space replaces each character that would end the line (RFC 9110, 5.5): a damaged store may have
  /// one.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else { return text }
    return String(decoding: text.utf8.map { $0 == 13 || $0 == 10 || $0 == 0 ? 32 : $0 }, as: UTF8.self)
  }

  /// The content for a terminal; `nil` if it is not text, or too long to hold in memory.
  public var terminalText: String? {
    guard response.rest == nil, let text = String(validating: response.body, as: UTF8.self),
      !text.unicodeScalars.contains("\0")
    else {
      return nil
    }
    return TerminalText.block(text)
  }

  /// The head for a terminal.
  public func table(on screen: Screen, hasHeader: Bool) -> String { TerminalText.block(head) }

  /// Where the response came from.
  public var status: StatusLine? { origin.status(["HTTP \(response.head.status)"]) }

  /// The failures on the way to this response.
  public var warnings: [ErrorView] { origin.warnings }
}
