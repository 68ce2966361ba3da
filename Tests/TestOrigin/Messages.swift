import CZlib
import CacheBase
import Foundation

/// A request that a server received.
public struct TestRequest: Sendable, Hashable {
  /// The method, such as "GET".
  public let method: String
  /// The target in the request line: path and query, percent-encoded.
  public let target: String
  /// The header fields.
  public let fields: TestFields
  /// The content, without the chunks that it came in.
  public let body: [UInt8]

  /// The path, percent-encoded.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The parameters of the query, decoded; of a repeated one the last value.
  public var query: [String: String] {
    guard let mark = target.firstIndex(of: "?") else { return [:] }
    let pairs = target[target.index(after: mark)...].split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
    }
    return Dictionary(pairs) { $1 }
  }

  private static func decoded(_ text: Substring) -> String {
    text.replacing("+", with: " ").removingPercentEncoding ?? String(text)
  }

  /// Whether the client takes content that is compressed by gzip.
  public var acceptsGzip: Bool { fields["Accept-Encoding"]?.contains("gzip") == true }
}

/// The header fields of a message in the form of the connection: in order, with repetitions. Names match in any case.
public struct TestFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field line.
  public struct Line: Sendable, Hashable {
    /// The name as it was written.
    public let name: String
    /// The value, without white space around it.
    public let value: String
  }

  /// The lines in order.
  public private(set) var lines: [Line] = []

  /// The given lines, in order.
  public init(dictionaryLiteral elements: (String, String)...) { for (name, value) in elements { append(name, value) } }

  /// Adds a line after the others.
  public mutating func append(_ name: String, _ value: String) { lines.append(Line(name: name, value: value)) }

  /// The values of all lines with this name, in order.
  public func values(_ name: String) -> [String] { lines.filter { Self.match($0.name, name) }.map(\.value) }

  /// The values with this name, joined by commas as RFC 9110, section 5.2, allows; `nil` if there is none. An
  /// assignment takes the place of all lines with the name, `nil` removes them.
  public subscript(_ name: String) -> String? {
    get {
      let values = values(name)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      lines.removeAll { Self.match($0.name, name) }
      if let newValue { append(name, newValue) }
    }
  }

  /// These fields, with the fields of `others` in place of the lines of the same names.
  public func replacing(with others: TestFields) -> TestFields {
    var fields = self
    for line in others.lines { fields[line.name] = nil }
    fields.lines += others.lines
    return fields
  }

  private static func match(_ name: String, _ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

/// A server's reaction to a request: a response, good or bad, or none.
public struct TestResponse: Sendable {
  /// The bytes on the connection.
  public enum Form: Sendable, Hashable {
    /// A message of HTTP.
    case message
    /// These bytes, whatever they are; then the connection is closed.
    case raw([UInt8])
    /// Nothing: the connection is closed.
    case nothing
  }

  /// How the content of a message is delimited.
  public enum Framing: Sendable, Hashable {
    /// By its true length; in chunks if it has no end.
    case length
    /// By a length that is claimed, true or not; then the connection is closed.
    case claimedLength(Int)
    /// In chunks of at most so many bytes.
    case chunked(Int)
    /// By the end of the connection.
    case close
  }

  /// The form of its bytes on the connection.
  public var form = Form.message
  /// The status.
  public var status: Int
  /// The header fields, without the fields of the framing. If there is no `Date`, it is added.
  public var fields: TestFields
  /// The content.
  public var body: TestBody
  /// The fields after the content, if it is in chunks.
  public var trailers: TestFields = [:]
  /// How the content is delimited.
  public var framing = Framing.length
  /// After how many bytes of the content the connection is closed, with the rest missing; `nil` for none missing.
  public var cut: Int?
  /// How many bytes of a raw response are sent at a time, with a millisecond in between; `nil` for all.
  public var pieceSize: Int?
  /// Holds the response back until it is opened.
  public var gate: TestGate?
  /// Holds the content back, after the header, until it is opened.
  public var bodyGate: TestGate?
  /// How many bytes of the content are sent before `bodyGate`.
  public var ungated = 0

  /// A response with the given parts.
  public init(status: Int = 200, fields: TestFields = [:], body: TestBody = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A response with a text.
  public init(status: Int = 200, fields: TestFields = [:], _ text: String, type: String = "text/plain") {
    self.init(
      status: status, fields: (["Content-Type": type] as TestFields).replacing(with: fields),
      body: .bytes(Array(text.utf8)))
  }

  /// A response with a document of JSON.
  public static func json(_ text: String, status: Int = 200, fields: TestFields = [:]) -> TestResponse {
    TestResponse(status: status, fields: fields, text, type: "application/json; charset=utf-8")
  }

  /// A page for people in place of a response, as proxies send it.
  public static func html(_ status: Int, fields: TestFields = [:]) -> TestResponse {
    TestResponse(
      status: status, fields: fields, "<!DOCTYPE html><html><body><h1>\(status)</h1></body></html>",
      type: "text/html; charset=utf-8")
  }

  /// A redirect to `location`.
  public static func redirect(to location: String, status: Int = 302, fields: TestFields = [:]) -> TestResponse {
    TestResponse(status: status, fields: fields.replacing(with: ["Location": location]))
  }

  /// The refusal of a client that asks too often, with or without the time after which it may come back: seconds, or a
  /// date.
  public static func tooManyRequests(retryAfter: String?, _ text: String = "{}") -> TestResponse {
    var response = TestResponse.json(text, status: 429)
    response.fields["Retry-After"] = retryAfter
    return response
  }

  /// Bytes that are not HTTP.
  public static func raw(_ text: String) -> TestResponse { raw(bytes: Array(text.utf8)) }

  /// Bytes that are not text either.
  public static func raw(bytes: [UInt8]) -> TestResponse {
    var response = TestResponse()
    response.form = .raw(bytes)
    return response
  }

  /// The end of the connection without a response.
  public static var hangUp: TestResponse {
    var response = TestResponse()
    response.form = .nothing
    return response
  }
}

extension TestResponse {
  /// The same with its content in chunks.
  public func chunked(_ size: Int = 1000) -> TestResponse { changing { $0.framing = .chunked(size) } }

  /// The same with its content in chunks, and fields after it.
  public func trailing(_ trailers: TestFields) -> TestResponse { chunked().changing { $0.trailers = trailers } }

  /// The same with a length of the content that is claimed, and not true.
  public func claiming(length: Int) -> TestResponse { changing { $0.framing = .claimedLength(length) } }

  /// The same without a length: the end of the connection is the end of the content.
  public func untilClose() -> TestResponse { changing { $0.framing = .close } }

  /// The same, but the connection ends after `count` bytes of the content.
  public func cut(after count: Int) -> TestResponse { changing { $0.cut = count } }

  /// The same, but raw bytes are sent so many at a time, with a millisecond in between.
  public func inPieces(of size: Int) -> TestResponse { changing { $0.pieceSize = max(1, size) } }

  /// The same, but nothing is sent before `gate` is opened.
  public func held(by gate: TestGate) -> TestResponse { changing { $0.gate = gate } }

  /// The same, but no more than `count` bytes of the content are sent before `gate` is opened. If `count` is not 0, the
  /// content is in chunks, one of which ends there.
  public func contentHeld(by gate: TestGate, after count: Int = 0) -> TestResponse {
    changing { response in
      response.bodyGate = gate
      response.ungated = count
    }
  }

  /// A copy in which `fields` replace the fields of the same names.
  public func with(_ fields: TestFields) -> TestResponse { changing { $0.fields = $0.fields.replacing(with: fields) } }

  /// The same with its content compressed. A strong tag is then another one, as its bytes are others (RFC 9110, section
  /// 8.8.3.3); a weak one stays, as it says the same.
  public func gzipped() -> TestResponse {
    guard case .bytes(let bytes) = body else { return self }
    return changing { response in
      response.body = .bytes(Gzip.compress(bytes))
      response.fields["Content-Encoding"] = "gzip"
      if let tag = fields["ETag"], tag.hasPrefix("\"") { response.fields["ETag"] = "\(tag.dropLast())-gzip\"" }
    }
  }

  /// The response to `request`: a 304 without content if one of its conditions holds (RFC 9110, section 13.2.2), and
  /// this response otherwise. Dates are compared as texts, as the section allows.
  public func validated(for request: TestRequest) -> TestResponse {
    guard status == 200, ["GET", "HEAD"].contains(request.method), isKnown(to: request) else { return self }
    var response = TestResponse(status: 304)
    for name in ["Cache-Control", "Content-Location", "Date", "ETag", "Expires", "Vary"] {
      response.fields[name] = fields[name]
    }
    response.gate = gate
    return response
  }

  private func isKnown(to request: TestRequest) -> Bool {
    if let condition = request.fields["If-None-Match"] {
      guard let tag = fields["ETag"] else { return false }
      let tags = condition.split(separator: ",").map { Self.opaque($0.drop(while: \.isWhitespace)) }
      return condition == "*" || tags.contains(Self.opaque(tag[...]))
    }
    guard let date = request.fields["If-Modified-Since"] else { return false }
    return date == fields["Last-Modified"]
  }

  private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }

  private func changing(_ change: (inout TestResponse) -> Void) -> TestResponse {
    var response = self
    change(&response)
    return response
  }
}

/// The content of a response. Repeated content is never held in memory as a whole.
public enum TestBody: Sendable, Hashable {
  /// These bytes.
  case bytes([UInt8])
  /// A repeated pattern, cut off after `count` bytes; without an end if that is `nil`.
  case repeated([UInt8], count: Int?)

  /// How many bytes it has; `nil` if it has no end.
  public var count: Int? {
    switch self {
    case .bytes(let bytes): bytes.count
    case .repeated(_, let count): count
    }
  }

  /// Lends the content to `send` in pieces of at most `size` bytes, until `limit` bytes were lent or `send` refuses one.
  ///
  /// - Returns: whether `send` took everything.
  func forEachPiece(size: Int, limit: Int?, _ send: (ArraySlice<UInt8>) -> Bool) -> Bool {
    let block = block(size: size)
    let end = [count, limit].compactMap { $0 }.min()
    var sent = 0
    while !block.isEmpty, sent < end ?? .max {
      let start = isRepeated ? 0 : sent
      let piece = block[start..<min(start + size, block.count)].prefix(end.map { $0 - sent } ?? size)
      guard send(piece) else { return false }
      sent += piece.count
    }
    return true
  }

  private var isRepeated: Bool { if case .repeated = self { true } else { false } }

  /// The bytes of one piece: all, or as many complete patterns as fit into it.
  private func block(size: Int) -> [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .repeated(let pattern, _):
      let times = pattern.isEmpty ? 0 : max(1, size / pattern.count)
      return Array([[UInt8]](repeating: pattern, count: times).joined())
    }
  }
}

/// The compression of RFC 1952.
public enum Gzip {
  /// `bytes` as one member of a gzip file.
  public static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let window = 15 + 16  // The largest window, and the header of gzip in place of zlib's.
    deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Int32(window), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = bytes
    let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
    return input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        deflate(&stream, Z_FINISH)
        count = Int(stream.total_out)
      }
    }
  }
}

/// Dates as header fields have them: the IMF-fixdate of RFC 9110, section 5.6.7.
public enum WireDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The date that is `offset` seconds from now.
  public static func text(secondsFromNow offset: Int = 0) -> String {
    var time = time_t(offset) + time_t(CacheBase.time(nil))
    var parts = tm()
    gmtime_r(&time, &parts)
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(padded).joined(separator: ":")
    let month = months[Int(parts.tm_mon)]
    return "\(days[Int(parts.tm_wday)]), \(padded(parts.tm_mday)) \(month) \(1900 + parts.tm_year) \(clock) GMT"
  }

  private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
