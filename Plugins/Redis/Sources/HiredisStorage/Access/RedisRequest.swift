/// A request to one part of a store.
struct RedisRequest: Sendable {
  enum Body: Sendable {
    /// A command with one key, which may follow its key while the slot is migrated.
    case command(RedisCommand)
    /// A script with all its keys and arguments. It waits until the slot has been migrated.
    case script(RedisScript, keys: [String], arguments: [[UInt8]])
  }

  let part: Int
  let body: Body
  /// Whether it changes entries, so that replicas must confirm it under `full` durability.
  let isChange: Bool

  init(_ part: Int, _ command: RedisCommand) {
    (self.part, body, isChange) = (part, .command(command), false)
  }

  init(_ part: Int, _ script: RedisScript, keys: [String], arguments: [[UInt8]] = [], isChange: Bool = false) {
    (self.part, body, self.isChange) = (part, .script(script, keys: keys, arguments: arguments), isChange)
  }

  /// The command for a server that knows the scripts by `hashes`.
  func command(hashes: [String]) -> RedisCommand {
    switch body {
    case .command(let command): return command
    case .script(let script, let keys, let arguments):
      var command = RedisCommand("EVALSHA", hashes[script.rawValue], String(keys.count))
      command.append(keys)
      for argument in arguments { command.append(argument) }
      return command
    }
  }

  var isScript: Bool {
    if case .script = body { true } else { false }
  }

  /// Whether a `WRONGTYPE` error means that the index or the tally has the wrong type. Scripts either tolerate an entry of
  /// the wrong type or say in the error that it is an entry.
  var blamesTables: Bool {
    if case .command(let command) = body { command.arguments.first != Array("GET".utf8) } else { true }
  }
}

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
