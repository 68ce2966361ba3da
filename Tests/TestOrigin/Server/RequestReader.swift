/// Reads the requests that come over a connection, one after the other.
struct RequestReader {
  private let connection: Connection
  /// What was received and not read yet.
  private var buffer: [UInt8] = []

  init(_ connection: Connection) { self.connection = connection }

  /// The next request; `nil` at the end of the connection, and for what is no request.
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
    while let line = line(), let size = Self.number(line.prefix { $0 != ";" }, radix: 16),
      let chunk = bytes(size)
    {
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
