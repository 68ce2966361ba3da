/// A command with its arguments, as it is sent.
struct RedisCommand: Sendable {
  private(set) var arguments: [[UInt8]] = []

  /// The command of the given words.
  init(_ words: String...) { append(words) }

  mutating func append(_ text: String) { arguments.append(Array(text.utf8)) }

  mutating func append(_ texts: [String]) { for text in texts { append(text) } }

  mutating func append(_ bytes: [UInt8]) { arguments.append(bytes) }

  /// Appends the command to `bytes` as the protocol has it (RESP2): an array of strings, each with its length.
  func encode(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: "*\(arguments.count)\r\n".utf8)
    for argument in arguments {
      bytes.append(contentsOf: "$\(argument.count)\r\n".utf8)
      bytes.append(contentsOf: argument)
      bytes.append(contentsOf: "\r\n".utf8)
    }
  }
}
