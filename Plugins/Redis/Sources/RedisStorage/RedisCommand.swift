/// A command with its arguments, ready to send.
struct RedisCommand: Sendable {
  private(set) var arguments: [[UInt8]] = []

  /// A command of the words `words`.
  init(_ words: String...) { append(words) }

  mutating func append(_ text: String) { arguments.append(Array(text.utf8)) }

  mutating func append(_ texts: [String]) { for text in texts { append(text) } }

  mutating func append(_ bytes: [UInt8]) { arguments.append(bytes) }

  /// Appends the command to `bytes` in the protocol's form (RESP2): an array of strings, each with its length.
  func encode(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: "*\(arguments.count)\r\n".utf8)
    for argument in arguments {
      bytes.append(contentsOf: "$\(argument.count)\r\n".utf8)
      bytes.append(contentsOf: argument)
      bytes.append(contentsOf: "\r\n".utf8)
    }
  }
}
