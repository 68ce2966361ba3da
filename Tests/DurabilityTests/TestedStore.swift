import Foundation
import Testing

/// A store of some engine that other processes use. It knows how many batches each of its writers has committed.
final class TestedStore {
  let engine: String
  let seed: Int
  private let path: String
  private let folder: TestFolder
  /// The command before each program, for example if only some processes see the disk of the store.
  private let prefix: [String]
  private let program: String
  /// For each writer, the number of batches that the store holds for certain.
  private(set) var committed: [Int]

  init(
    _ engine: String, path: String, seed: Int, writers: Int = 1, in folder: TestFolder,
    program: String = Built.exerciser, prefix: [String] = []
  ) {
    (self.program, self.prefix) = (program, prefix)
    (self.engine, self.path, self.seed, self.folder) = (engine, path, seed, folder)
    committed = [Int](repeating: 0, count: writers)
  }

  /// Starts a process that does `verb` with the store.
  func start(_ verb: String, _ options: [String: Int] = [:], texts: [String: String] = [:]) throws -> Program {
    let values = ["seed": seed].merging(options) { $1 }.map { "\($0)=\($1)" } + texts.map { "\($0)=\($1)" }
    return try Program(prefix + [program, verb, engine, path] + values, in: folder)
  }

  /// Starts a writer that continues after the batches of the last one.
  func startWriter(_ lane: Int = 0, _ options: [String: Int] = [:]) throws -> Program {
    try start("write", ["lane": lane, "from": committed[lane]].merging(options) { $1 })
  }

  /// Records the batches of an ended writer that were acknowledged, and returns their number.
  @discardableResult
  func acknowledge(_ writer: Program, _ lane: Int = 0) -> Int {
    let before = committed[lane]
    let numbers = writer.lines.compactMap { $0.hasPrefix("A ") ? Int($0.dropFirst(2)) : nil }
    if let last = numbers.last { committed[lane] = last + 1 }
    return committed[lane] - before
  }

  /// Has another process check that the store is intact and holds all that was acknowledged and nothing else, except
  /// `unfinished` batches of each writer that may have been committed as well.
  func check(unfinished: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let acknowledged = committed.map(String.init).joined(separator: ",")
    let checker = try start("check", ["unfinished": unfinished], texts: ["acknowledged": acknowledged])
    let status = checker.end()
    let found = checker.lines.filter { $0.hasPrefix("LANE ") }.compactMap { Int($0.split(separator: " ")[2]) }
    guard status == 0, found.count == committed.count else {
      Issue.record(
        "\(self): \(checker.lines.last ?? "nothing") \(checker.errors), status \(status)",
        sourceLocation: sourceLocation)
      return
    }
    committed = found
  }
}

extension TestedStore: CustomStringConvertible {
  var description: String { "\(engine), seed \(seed), batches \(committed)" }
}

/// The settings of this target's tests in the environment.
enum TestEnvironment {
  static let engines = ["sqlite", "lmdb", "plist"]

  /// `CACHECTL_KILLS`: how many times processes are killed, over all engines.
  static let kills = number("CACHECTL_KILLS") ?? 120

  /// `CACHECTL_SEED`: the seed of the batches and instants; if it is not set, each run has another one.
  static let seed = number("CACHECTL_SEED") ?? Int.random(in: 1...1_000_000)

  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}
