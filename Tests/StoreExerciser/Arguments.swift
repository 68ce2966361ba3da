import CacheBase
import LMDBStorage
import PlistStorage
import SQLiteStorage
import EngineAPI

/// The arguments of the process.
struct Arguments {
  let verb: String
  private let engine: String
  private let path: String
  private let values: [String: String]

  init(_ words: [String]) throws(CacheError) {
    guard words.count >= 4 else { throw CacheError(.failed, "VERB ENGINE PATH [NAME=VALUE]...") }
    verb = words[1]
    engine = words[2]
    path = words[3]
    var values: [String: String] = [:]
    for word in words.dropFirst(4) {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { throw CacheError(.failed, "'\(word)' is not NAME=VALUE") }
      values[String(parts[0])] = String(parts[1])
    }
    self.values = values
  }

  func text(_ name: String) -> String? { values[name] }

  func number(_ name: String) throws(CacheError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text) else { throw CacheError(.failed, "'\(text)' is no number") }
    return number
  }

  func number(_ name: String, default value: Int) throws(CacheError) -> Int { try number(name) ?? value }

  func openStore() async throws(CacheError) -> any StorageEngine {
    let plugins: [any StoragePlugin] = [SQLitePlugin(), LMDBPlugin(), PlistPlugin()]
    guard let plugin = plugins.first(where: { $0.declaration.name == engine }) else {
      throw CacheError(.failed, "there is no engine '\(engine)'")
    }
    var options = ["path": path, "durability": values["durability"] ?? "normal"].mapValues(OptionValue.text)
    // On a busy machine, several processes that write without a pause may shut the others out for a while.
    let busyTimeout = EngineOption.busyTimeout.name
    if plugin.declaration.options.contains(where: { $0.name == busyTimeout }) {
      options[busyTimeout] = .integer(Int64(Waiting.limit / .milliseconds(1)))
    }
    return try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: options, clock: SystemClock()))
  }
}

/// The time of day.
struct SystemClock: WallClock {
  var now: Timestamp { Timestamp(milliseconds: Int64(time(nil)) * 1_000) }
}

/// The size that no file of the process may exceed, for writes that fail in the middle.
enum FileSizeLimit {
  static func set(_ bytes: Int) throws(CacheError) {
    // Without this the system ends a process that meets its limit.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else {
      throw CacheError(.failed, "the size of files cannot be limited: errno \(errno)")
    }
  }
}
