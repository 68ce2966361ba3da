internal import CRedis
internal import EngineAPI

/// A command with its arguments, in the protocol's form (RESP2): an array of strings, each with its length.
struct RedisCommand: Sendable {
  private var count = 0
  private var words: [UInt8] = []

  init(_ words: String...) { append(words) }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0.span) }
  }

  mutating func append(_ texts: [String]) { for text in texts { append(text) } }

  mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

  mutating func append(_ bytes: Span<UInt8>) {
    count += 1
    words.reserveCapacity(words.count + bytes.count + 16)
    Self.append(UInt8(ascii: "$"), bytes.count, to: &words)
    bytes.withUnsafeBufferPointer { words.append(contentsOf: $0) }
    Self.endLine(&words)
  }

  /// Appends the command to `bytes`, as it is sent.
  func encode(into bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + words.count + 16)
    Self.append(UInt8(ascii: "*"), count, to: &bytes)
    bytes.append(contentsOf: words)
  }

  /// Appends a line of a mark and a number. (An interpolated string would cost more than the rest of a short command.)
  private static func append(_ mark: UInt8, _ number: Int, to bytes: inout [UInt8]) {
    bytes.append(mark)
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
      divisor /= 10
    }
    endLine(&bytes)
  }

  private static func endLine(_ bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\r"))
    bytes.append(UInt8(ascii: "\n"))
  }
}

/// Turns the bytes that a server sends into replies.
struct RedisReader: ~Copyable {
  private let hiredis: credis_hiredis
  private let reader: UnsafeMutablePointer<redisReader>

  init() throws(CacheError) {
    let hiredis = try RedisLibraries.hiredis.get()
    guard let reader = hiredis.redisReaderCreate() else { throw CacheError(.failed, "there is no memory for a reply") }
    self.hiredis = hiredis
    self.reader = reader
  }

  deinit { hiredis.redisReaderFree(reader) }

  /// Takes what the server has sent.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    // If the reader cannot take the bytes, the next reply is an error.
    _ = hiredis.redisReaderFeed(reader, bytes.baseAddress, bytes.count)
  }

  /// The next reply, if all of it has arrived.
  ///
  /// - Throws: why the bytes are not replies.
  func next() throws(RedisBreak) -> RedisValue? {
    var pointer: UnsafeMutableRawPointer?
    guard hiredis.redisReaderGetReply(reader, &pointer) == REDIS_OK else {
      let message = withUnsafeBytes(of: reader.pointee.errstr) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw RedisBreak(message)
    }
    return pointer.map { RedisReply($0, hiredis.freeReplyObject).value }
  }
}

/// A server's reply, with the memory that hiredis allocated for it.
///
/// `@unchecked Sendable`: nothing changes it between its creation and its release.
private final class RedisReply: @unchecked Sendable {
  private let node: UnsafeMutablePointer<redisReply>
  private let free: @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Takes ownership of `pointer`, a reply.
  init(_ pointer: UnsafeMutableRawPointer, _ free: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
    node = pointer.assumingMemoryBound(to: redisReply.self)
    self.free = free
  }

  deinit { free(node) }

  /// The whole reply.
  var value: RedisValue { RedisValue(owner: self, node: node) }
}

/// A reply or an element of one. Every accessor checks the type first, and returns `nil` for any other.
struct RedisValue: Sendable {
  private let owner: RedisReply
  // Valid as long as `owner`.
  private nonisolated(unsafe) let node: UnsafeMutablePointer<redisReply>

  fileprivate init(owner: RedisReply, node: UnsafeMutablePointer<redisReply>) {
    self.owner = owner
    self.node = node
  }

  var isNil: Bool { node.pointee.type == REDIS_REPLY_NIL }

  var integer: Int64? { node.pointee.type == REDIS_REPLY_INTEGER ? Int64(node.pointee.integer) : nil }

  /// The text of a string or a status, if it is valid UTF-8.
  var text: String? {
    guard hasBytes, node.pointee.type != REDIS_REPLY_ERROR else { return nil }
    return withBytes { bytes in
      bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
    }
  }

  /// The value of an integer, or of a string that contains one.
  var number: Int64? { integer ?? text.flatMap { Int64($0) } }

  /// The value of the line `NAME:VALUE` in a reply to INFO.
  func fact(_ name: String) -> String? {
    let line = text?.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
    return line.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  var elements: [RedisValue]? {
    guard node.pointee.type == REDIS_REPLY_ARRAY else { return nil }
    return (0..<node.pointee.elements).compactMap { index in
      node.pointee.element?[index].map { RedisValue(owner: owner, node: $0) }
    }
  }

  var error: RedisServerError? {
    guard node.pointee.type == REDIS_REPLY_ERROR else { return nil }
    return withBytes { bytes in
      bytes.withUnsafeBufferPointer { RedisServerError(String(decoding: $0, as: UTF8.self)) }
    }
  }

  private var hasBytes: Bool {
    let type = node.pointee.type
    return type == REDIS_REPLY_STRING || type == REDIS_REPLY_STATUS || type == REDIS_REPLY_ERROR
  }

  /// A copy of the bytes of a string, a status or an error; for anything else, no bytes.
  var bytes: [UInt8] { withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } } }

  /// Lends the bytes of a string, a status or an error to `body`; for anything else, no bytes.
  func withBytes<Output, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Output) throws(Failure) -> Output {
    let length = hasBytes ? Int(node.pointee.len) : 0
    let start = length == 0 ? nil : UnsafeRawPointer(node.pointee.str)?.assumingMemoryBound(to: UInt8.self)
    let span = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : length).span
    defer { withExtendedLifetime(owner) {} }
    return try body(span)
  }
}

/// An error reply: a word in capitals, and more.
struct RedisServerError: Error, Sendable, CustomStringConvertible {
  /// The first line of the error, without the arguments of an unknown command, which can be a password or an entry. If a
  /// script failed, it leaves out the script's hash and line number, which mean nothing to users.
  let description: String

  init(_ text: String) {
    let line = text.prefix { !$0.isNewline }
    let ends = [" script: ", ", with args beginning with: "]
    let end = line.indices.first { start in ends.contains { line[start...].hasPrefix($0) } }
    description = String(line[..<(end ?? line.endIndex)])
  }

  /// The first word, such as "MOVED".
  var word: Substring { description.prefix { $0 != " " } }

  /// The other node in `MOVED 3999 host:port` or `ASK 3999 host:port`. An empty host means the host of the responding
  /// node.
  func target(from answering: RedisAddress) -> RedisAddress? {
    let words = description.split(separator: " ")
    guard words.count >= 3, let colon = words[2].lastIndex(of: ":"),
      let port = UInt16(words[2][words[2].index(after: colon)...]), port > 0
    else { return nil }
    let host = words[2][..<colon]
    return RedisAddress(host: host.isEmpty ? answering.host : String(host), port: Int32(port))
  }
}
