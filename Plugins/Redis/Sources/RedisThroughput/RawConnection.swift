import Platform
import StorageSPI

/// A plain connection to a server, to compare the engine with: a blocking socket, and as little as its replies need.
///
/// `@unchecked Sendable`: only one task uses it.
final class RawConnection: @unchecked Sendable {
  /// The server's address and its port.
  let (host, port): (String, String)
  private let descriptor: Int32
  private var received = [UInt8](repeating: 0, count: 65_536)
  private var (start, end) = (0, 0)

  /// Connects to the server at `url`, which is like `redis://127.0.0.1:6379`.
  init(_ url: String) throws(CacheError) {
    let parts = url.split(separator: "/").last?.split(separator: ":") ?? []
    var address = sockaddr_in()
    guard parts.count == 2, let port = UInt16(parts[1]), inet_pton(AF_INET, String(parts[0]), &address.sin_addr) == 1
    else { throw CacheError(.invalidOption, "the figures need a URL such as redis://127.0.0.1:6379") }
    (self.host, self.port) = (String(parts[0]), String(parts[1]))
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    #if os(Linux)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    let descriptor = descriptor
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw CacheError(.unreachable, "\(url): \(String(cString: strerror(errno)))") }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// The command of `arguments` in the protocol's form.
  static func command(_ arguments: [UInt8]...) -> [UInt8] { command(arguments) }

  private static func command(_ arguments: [[UInt8]]) -> [UInt8] {
    var bytes = Array("*\(arguments.count)\r\n".utf8)
    for argument in arguments { bytes += Array("$\(argument.count)\r\n".utf8) + argument + Array("\r\n".utf8) }
    return bytes
  }

  /// The command of `words`, with a space between two.
  static func command(_ words: String) -> [UInt8] {
    command(words.split(separator: " ", omittingEmptySubsequences: false).map { Array($0.utf8) })
  }

  /// Sends `bytes`.
  func send(_ bytes: [UInt8]) throws(CacheError) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { Sockets.send(descriptor, UnsafeRawBufferPointer(rebasing: $0[offset...])) }
      guard count > 0 else { throw Self.broken }
      offset += count
    }
  }

  /// Waits for a reply, and returns the length of the string in it; `nil` if it is none, or none at all.
  @discardableResult
  func receive() throws(CacheError) -> Int? { try receiveString()?.count }

  /// What INFO says in `section`, by name.
  func info(_ section: String) throws(CacheError) -> [String: String] {
    try send(Self.command("INFO \(section)"))
    let lines = try receiveText().split(whereSeparator: \.isNewline)
    let pairs = lines.compactMap { line -> (String, String)? in
      let words = line.split(separator: ":", maxSplits: 1)
      return words.count == 2 ? (String(words[0]), String(words[1])) : nil
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Waits for a reply, and returns the string in it; "" if it is none.
  func receiveText() throws(CacheError) -> String {
    guard let bytes = try receiveString() else { return "" }
    return String(decoding: received[bytes], as: UTF8.self)
  }

  /// Waits for a number, or for the head of a list, whose elements are then replies of their own; returns the number.
  func receiveNumber() throws(CacheError) -> Int {
    Int(String(decoding: received[try receiveHead()].dropFirst(), as: UTF8.self)) ?? 0
  }

  /// Where the string of the next reply is in `received`, until the next call.
  private func receiveString() throws(CacheError) -> Range<Int>? {
    let head = received[try receiveHead()]
    guard head.first == UInt8(ascii: "$"), let count = Int(String(decoding: head.dropFirst(), as: UTF8.self)),
      count >= 0
    else { return nil }
    while end - start < count + 2 { try fill() }
    let string = start..<start + count
    start = string.upperBound + 2
    return string
  }

  /// Where the first line of the next reply is in `received`, until the next call.
  private func receiveHead() throws(CacheError) -> Range<Int> {
    var line = end
    while true {
      if let newline = received[start..<end].firstIndex(of: UInt8(ascii: "\n")) {
        line = newline
        break
      }
      try fill()
    }
    let head = start..<line - 1
    start = line + 1
    if received[head].first == UInt8(ascii: "-") {
      throw CacheError(.ioFailed, String(decoding: received[head], as: UTF8.self))
    }
    return head
  }

  private func fill() throws(CacheError) {
    if start == end { (start, end) = (0, 0) }
    if end == received.count {
      received.removeFirst(start)
      (start, end) = (0, end - start)
      received.append(contentsOf: [UInt8](repeating: 0, count: 65_536))
    }
    let (descriptor, end) = (descriptor, end)
    let count = received.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress.map { $0 + end }, $0.count - end, 0) }
    guard count > 0 else { throw Self.broken }
    self.end += count
  }

  private static var broken: CacheError { CacheError(.unreachable, "the server has closed the connection") }
}
