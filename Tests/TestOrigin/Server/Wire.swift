import CacheBase

/// Reads the requests that come over a connection, one after the other.
struct RequestReader {
  private let connection: Connection
  /// The bytes received and not read yet.
  private var buffer: [UInt8] = []

  init(_ connection: Connection) { self.connection = connection }

  /// The next request; `nil` at the end of the connection, and for bytes that are not a request.
  mutating func next() -> TestRequest? {
    while buffer.isEmpty { guard receive() else { return nil } }
    // The beginning of TLS: read as lines it would be a request, or an endless one, as its random bytes will.
    guard buffer.first != 0x16, let start = line() else { return nil }
    let parts = start.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let fields = fields(), let body = body(fields) else { return nil }
    return TestRequest(method: String(parts[0]), target: String(parts[1]), fields: fields, body: body)
  }

  private mutating func fields() -> TestFields? {
    var fields: TestFields = [:]
    while let line = line() {
      if line.isEmpty { return fields }
      guard let colon = line.firstIndex(of: ":") else { return nil }
      fields.append(String(line[..<colon]), Self.trimmed(line[line.index(after: colon)...]))
    }
    return nil
  }

  private mutating func body(_ fields: TestFields) -> [UInt8]? {
    if fields["Expect"]?.lowercased() == "100-continue" {
      guard connection.send("HTTP/1.1 100 Continue\r\n\r\n") else { return nil }
    }
    if fields["Transfer-Encoding"]?.lowercased() == "chunked" { return chunks() }
    guard let length = fields["Content-Length"] else { return [] }
    return Self.number(length[...], radix: 10).flatMap { bytes($0) }
  }

  private mutating func chunks() -> [UInt8]? {
    var content: [UInt8] = []
    while let line = line(), let size = Self.number(line.prefix { $0 != ";" }, radix: 16), let chunk = bytes(size) {
      content += chunk
      guard let end = self.line(), end.isEmpty else { return nil }
      if size == 0 { return content }
    }
    return nil
  }

  private mutating func bytes(_ count: Int) -> [UInt8]? {
    while buffer.count < count { guard receive() else { return nil } }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  /// The next line without its end.
  private mutating func line() -> String? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer.removeFirst(end + 1) }
        let line = buffer[..<end]
        return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
      }
      searched = buffer.count
      guard receive() else { return nil }
    }
  }

  private mutating func receive() -> Bool {
    let bytes = connection.receive(65536)
    buffer += bytes
    return !bytes.isEmpty
  }

  /// The number that `text` is, of digits alone; `nil` for anything else, such as one with a sign.
  private static func number(_ text: Substring, radix: Int) -> Int? {
    text.allSatisfy(\.isHexDigit) ? Int(text, radix: radix) : nil
  }

  private static func trimmed(_ text: Substring) -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    return String(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }
}

/// Sends a response over a connection, correctly or with its defects.
struct ResponseWriter {
  private static let pieceSize = 65536

  /// How the sending ended.
  enum End {
    /// Everything was sent, and the connection can continue.
    case complete
    /// Everything was sent, and the connection must end.
    case last
    /// The peer closed the connection before.
    case abandoned
  }

  let outlet: Outlet
  let request: TestRequest

  /// Sends `response`, and calls `atEnd` once: before the last bytes, or when the peer has closed the connection. So a
  /// peer that got the last bytes finds that the response has ended.
  func write(_ response: TestResponse, atEnd: () -> Void) -> End {
    let end = fill(response)
    atEnd()
    return end != .abandoned && outlet.flush() ? end : .abandoned
  }

  private func fill(_ response: TestResponse) -> End {
    if let gate = response.gate, !gate.wait(on: outlet.connection) { return .abandoned }
    switch response.form {
    case .nothing: return .last
    case .raw(let bytes): return raw(bytes, pieceSize: response.pieceSize ?? bytes.count) ? .last : .abandoned
    case .message: return message(response)
    }
  }

  private func raw(_ bytes: [UInt8], pieceSize: Int) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard outlet.send(rest.prefix(pieceSize)) else { return false }
      rest = rest.dropFirst(pieceSize)
      if !rest.isEmpty { poll(nil, 0, 1) }
    }
    return true
  }

  private func message(_ response: TestResponse) -> End {
    guard outlet.send(head(response)), response.ungated > 0 || passesGate(of: response) else { return .abandoned }
    guard !hasContent(response) || content(response) else { return .abandoned }
    return closes(response) ? .last : .complete
  }

  private func head(_ response: TestResponse) -> String {
    var fields = response.fields
    if fields["Date"] == nil { fields["Date"] = WireDate.text() }
    if response.status >= 200, ![204, 304].contains(response.status) {
      switch framing(response) {
      case .length: fields["Content-Length"] = String(response.body.count ?? 0)
      case .claimedLength(let length): fields["Content-Length"] = String(length)
      case .chunked: fields["Transfer-Encoding"] = "chunked"
      case .close: break
      }
    }
    if closes(response) { fields["Connection"] = "close" }
    return "HTTP/1.1 \(response.status) \(StatusPhrase.text(response.status))\r\n" + Self.lines(fields)
  }

  /// Lines in the form of the connection, and the empty one after them.
  private static func lines(_ fields: TestFields) -> String {
    fields.lines.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
  }

  private func passesGate(of response: TestResponse) -> Bool {
    guard let gate = response.bodyGate else { return true }
    return outlet.flush() && gate.wait(on: outlet.connection)
  }

  private func content(_ response: TestResponse) -> Bool {
    var sent = 0
    func opensWay(_ piece: ArraySlice<UInt8>) -> Bool {
      defer { sent += piece.count }
      return response.ungated == 0 || sent != response.ungated || passesGate(of: response)
    }
    guard case .chunked(let size) = framing(response) else {
      return response.body.forEachPiece(size: Self.pieceSize, limit: response.cut, outlet.send)
    }
    let isSent = response.body.forEachPiece(size: max(1, size), limit: response.cut) { piece in
      opensWay(piece) && outlet.send("\(String(piece.count, radix: 16))\r\n") && outlet.send(piece)
        && outlet.send("\r\n")
    }
    return isSent && (response.cut != nil || outlet.send("0\r\n" + Self.lines(response.trailers)))
  }

  private func framing(_ response: TestResponse) -> TestResponse.Framing {
    response.framing == .length && response.body.count == nil ? .chunked(Self.pieceSize) : response.framing
  }

  private func hasContent(_ response: TestResponse) -> Bool {
    request.method != "HEAD" && ![204, 304].contains(response.status)
  }

  private func closes(_ response: TestResponse) -> Bool {
    if request.fields["Connection"]?.lowercased() == "close" || response.cut != nil { return true }
    return switch response.framing {
    case .length, .chunked: false
    case .claimedLength, .close: true
    }
  }
}

/// The words after the status in a status line.
private enum StatusPhrase {
  private static let phrases = [
    200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 422: "Unprocessable Content", 429: "Too Many Requests",
    500: "Internal Server Error", 503: "Service Unavailable", 504: "Gateway Timeout",
  ]

  static func text(_ status: Int) -> String { phrases[status] ?? "Status" }
}
