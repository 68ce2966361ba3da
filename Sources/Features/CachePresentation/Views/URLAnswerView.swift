public import CacheDomain
internal import HTTPMessages

/// The answer of a URL, without its content.
public struct URLAnswerView: SingleRecordView {
  private let origin: SnapshotOrigin
  private let answer: URLAnswer

  /// The view of `snapshot`, which came through the store called `backend`.
  public init(_ snapshot: Snapshot<URLAnswer>, backend: String?) {
    self.origin = SnapshotOrigin(snapshot, backend: backend)
    self.answer = snapshot.value
  }

  /// The document: the members of every fetch, then "url", "status", "headers" (a list of {"name", "value"}), "bytes"
  /// (null if an answer still coming in does not say), and "body" if the content is text and complete.
  public var json: JSONValue {
    let headers = answer.fields.lines.map { ["name": .string($0.name), "value": .string($0.value)] as JSONValue }
    let body = answer.rest == nil ? String(validating: answer.body, as: UTF8.self) : nil
    return .object(
      origin.members(resource: "url") + [
        .init("url", .string(answer.url)), .init("status", .integer(answer.status)),
        .init("headers", .array(headers)), .init("bytes", JSONValue(byteCount)), .init("body", JSONValue(body)),
      ])
  }

  private var byteCount: Int? {
    guard let rest = answer.rest else { return answer.body.count }
    return rest.length.map { answer.body.count + $0 }
  }

  /// The status line and the header fields as they came, in the form of HTTP/1.1 and with an empty line at the end.
  /// Those of interim responses come first.
  public var head: String { (answer.interim + [answer]).map(Self.head).joined() }

  /// The fields after the content, in the form of HTTP/1.1. Content that is still coming in has them only at its end.
  public var trailers: String { Self.lines(answer.rest?.trailers ?? answer.trailers) }

  private static func head(_ answer: URLAnswer) -> String {
    "\(answer.version ?? "HTTP/1.1") \(answer.status) \(oneLine(answer.reason ?? ""))\r\n\(lines(answer.fields))\r\n"
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
    guard answer.rest == nil, let text = String(validating: answer.body, as: UTF8.self),
      !text.unicodeScalars.contains("\0")
    else {
      return nil
    }
    return TerminalText.block(text)
  }

  /// The head for a terminal.
  public func table(on screen: Screen, hasHeader: Bool) -> String { TerminalText.block(head) }

  /// Where the answer came from.
  public var status: StatusLine? { origin.status(["HTTP \(answer.status)"]) }

  /// The failures on the way to this answer.
  public var warnings: [ErrorView] { origin.warnings }
}
