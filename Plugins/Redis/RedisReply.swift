internal import CHiredis

/// A server's reply, with the memory that hiredis allocated for it.
///
/// `@unchecked Sendable`: nothing changes it between its creation and its release.
final class RedisReply: @unchecked Sendable {
  fileprivate let node: UnsafeMutablePointer<redisReply>

  /// Takes ownership of `pointer`, which `redisGetReply` returned.
  init(_ pointer: UnsafeMutableRawPointer) { node = pointer.assumingMemoryBound(to: redisReply.self) }

  deinit { freeReplyObject(node) }

  /// The whole reply.
  var value: RedisValue { RedisValue(owner: self, node: node) }
}

/// A reply or an element of one. Every accessor checks the type first, and returns `nil` for any other.
struct RedisValue: Sendable {
  private let owner: RedisReply
  // Valid as long as `owner`.
  private nonisolated(unsafe) let node: UnsafeMutablePointer<redisReply>

  fileprivate init(owner: RedisReply, node: UnsafeMutablePointer<redisReply>) {
    (self.owner, self.node) = (owner, node)
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
    [REDIS_REPLY_STRING, REDIS_REPLY_STATUS, REDIS_REPLY_ERROR].contains(node.pointee.type)
  }

  /// A copy of the bytes of a string, a status or an error; for anything else, no bytes.
  var bytes: [UInt8] { withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } } }

  /// Lends the bytes of a string, a status or an error to `body`; for anything else, no bytes.
  func withBytes<Output, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Output) throws(Failure) -> Output {
    let length = hasBytes ? node.pointee.len : 0
    let start = length == 0 ? nil : UnsafeRawPointer(node.pointee.str)?.assumingMemoryBound(to: UInt8.self)
    let span = unsafe UnsafeBufferPointer(start: start, count: start == nil ? 0 : length).span
    defer { withExtendedLifetime(owner) {} }
    return try body(span)
  }
}

/// An error reply: a word in capitals, and more.
struct RedisServerError: Error, Sendable, CustomStringConvertible {
  /// The first line of the error. Where a script failed, it leaves out the script's hash and line number, which mean nothing
  /// to users.
  let description: String

  init(_ text: String) {
    let line = text.prefix { !$0.isNewline }
    description = String(line.firstRange(of: " script: ").map { line[..<$0.lowerBound] } ?? line)
  }

  /// The first word, such as "MOVED".
  var word: Substring { description.prefix { $0 != " " } }

  /// Whether the server does not know the command at all.
  var isOfUnknownCommand: Bool { description.hasPrefix("ERR unknown command") }

  /// The other node in `MOVED 3999 host:port` or `ASK 3999 host:port`. An empty host means the host of the answering
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
