public import CacheDomain
public import HTTPCaching

extension SnapshotView {
  /// The response of a URL, which came through the store called `backend`.
  ///
  /// The document has "bytes", which is null if a response still coming in does not say, and "body" if the content is text
  /// and complete. People see the head.
  public init(_ snapshot: Snapshot<LocatedResponse>, backend: String?) {
    let (url, response) = (snapshot.value.url, snapshot.value.response)
    let headers = response.head.fields.lines.map {
      ["name": .string($0.name), "value": .string($0.value)] as JSONValue
    }
    let rest = response.rest
    let count = rest == nil ? response.body.count : rest?.length.map { response.body.count + $0 }
    let body = rest == nil ? String(validating: response.body, as: UTF8.self) : nil
    self.init(
      snapshot, of: "url", backend: backend,
      [
        Field("url", .string(url)), Field("status", .integer(response.head.status)),
        Field("headers", .array(headers)), Field("bytes", JSONValue(count)), Field("body", JSONValue(body)),
      ], extent: ["HTTP \(response.head.status)"]
    ) { _ in
      TerminalText.block(response.headText)
    }
  }
}

extension HTTP.Response {
  /// The status line and the unchanged header fields, in the form of HTTP/1.1 and with an empty line at the end. Those
  /// of interim responses come first.
  package var headText: String { (interim + [head]).map(Self.text).joined() }

  /// The fields after the content, in the form of HTTP/1.1. Content that is still coming in has them only at its end.
  package var trailerText: String { Self.lines(rest?.trailers ?? trailers) }

  private static func text(_ head: HTTP.ResponseHead) -> String {
    let version = head.version?.rawValue ?? "HTTP/1.1"
    return "\(version) \(head.status) \(oneLine(head.reason ?? ""))\r\n\(lines(head.fields))\r\n"
  }

  private static func lines(_ fields: HTTP.Fields) -> String {
    fields.lines.map { "\($0.name): \(oneLine($0.value))\r\n" }.joined()
  }

  /// `text`, in which a space replaces each character that would end the line (RFC 9110, 5.5): a damaged store might
  /// have one.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else { return text }
    return String(decoding: text.utf8.map { $0 == 13 || $0 == 10 || $0 == 0 ? 32 : $0 }, as: UTF8.self)
  }

  /// The content for a terminal; `nil` if it is not text, or still arriving.
  package var terminalText: String? {
    var text = ArrivingText()
    guard rest == nil, let start = text.append(body), let end = text.end() else { return nil }
    return start + end
  }
}
/// Text for a terminal, whose bytes arrive piece by piece.
public struct ArrivingText: Sendable {
  /// The beginning of a character, or of the end of a line.
  private var rest: [UInt8] = []

  /// Text without any bytes.
  public init() {}

  /// The text that `bytes` complete, with escapes for what could act on a terminal; `nil` if it is not text.
  public mutating func append(_ bytes: [UInt8]) -> String? {
    let bytes = rest + bytes
    let end = Self.end(of: bytes)
    rest = Array(bytes[end...])
    return Self.shown(bytes[..<end])
  }

  /// The text that no more bytes complete; `nil` if it is not text.
  public mutating func end() -> String? { Self.shown(rest[...]) }

  /// The end of the complete characters of `bytes`. A line feed can follow a carriage return.
  private static func end(of bytes: [UInt8]) -> Int {
    if bytes.last == UInt8(ascii: "\r") { return bytes.count - 1 }
    guard let start = bytes.suffix(3).lastIndex(where: { $0 < 0x80 || $0 >= 0xC0 }) else { return bytes.endIndex }
    let length = bytes[start] < 0x80 ? 1 : bytes[start] < 0xE0 ? 2 : bytes[start] < 0xF0 ? 3 : 4
    return bytes.count - start < length ? start : bytes.endIndex
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\0") else { return nil }
    return TerminalText.block(text)
  }
}
