import Foundation
import EngineAPI
import Testing

@testable import RedisExerciser
@testable import RedisStorage

/// Four processes that change and read the entries of one store, and the ledger that they share with the test.
final class RedisLoad {
  private static let processes = 4

  let ledger: SharedLedger
  private let url: String
  private let file: String
  private let programs: [RunningProgram]
  private let start = ContinuousClock.now

  /// Starts the processes.
  ///
  /// - Parameters:
  ///   - maxBytes: the size of the largest payloads.
  ///   - timeout: how long a call waits, in milliseconds.
  init(
    _ url: String, entries: Int = 96, maxBytes: Int = 3_000, timeout: Int64 = patience
  ) throws {
    self.url = url
    file = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)").path
    ledger = try SharedLedger(file, entries: entries)
    ledger[.seed] = Int(Load.seed)
    ledger[.maxBytes] = maxBytes
    var programs: [RunningProgram] = []
    for number in 0..<Self.processes {
      programs.append(
        try RunningProgram([
          BuiltProducts.path("RedisExerciser"), file, url, "\(number)", "\(Self.processes)", "\(timeout)",
        ]))
    }
    self.programs = programs
  }

  deinit { try? FileManager.default.removeItem(atPath: file) }

  var entries: Range<Int> { 0..<ledger.entries }

  /// Sums a column, over all entries or some.
  func sum(_ column: SharedLedger.Column, of entries: [Int]? = nil) -> Int {
    (entries ?? Array(self.entries)).reduce(0) { $0 + ledger[column, $1] }
  }

  /// The last confirmed change of each entry.
  var confirmed: [Int] { entries.map { ledger.stamp(.confirmed, $0).change } }

  /// Waits until `condition` holds. Fails at once if a process has ended, or has found an impossible state.
  func until(_ what: String, _ condition: () throws -> Bool) async throws {
    try await RedisStorageTests.until(what) {
      guard ledger[.objections] == 0, !programs.contains(where: \.hasEnded) else {
        throw RedisServer.Failure(description: "seed \(Load.seed), before \(what): \(output)")
      }
      return try condition()
    }
  }

  /// Waits until each of the entries was changed and read a few times more.
  func goesOn(with entries: [Int]? = nil, rounds: Int = Load.isThorough ? 50 : 2) async throws {
    let entries = entries ?? Array(self.entries)
    let before = entries.map { (ledger[.changes, $0], ledger[.reads, $0]) }
    try await until("the entries are changed and read") {
      zip(entries, before).allSatisfy { entry, before in
        ledger[.changes, entry] >= before.0 + rounds && ledger[.reads, entry] >= before.1 + rounds
      }
    }
  }

  /// The first lines that the processes have printed.
  private var output: String {
    programs.flatMap { ($0.output + $0.errors).split(separator: "\n").prefix(5) }.joined(separator: "\n")
  }

  /// The codes of all failures, once the processes have ended.
  var failures: Set<String> {
    let lines = programs.flatMap { $0.output.split(separator: "\n") }
    // Such as: FAILED 3 noSpace, such as: ...
    return Set(lines.filter { $0.hasPrefix("FAILED ") }.map { String($0.split(separator: " ")[2].dropLast()) })
  }

  /// Ends the processes, and checks all entries once more: read one by one, listed and counted.
  func end(_ what: String) async throws {
    for program in programs { program.signal(SIGTERM) }
    for program in programs { #expect(try await program.succeeds(), "\(program.output)\(program.errors)") }
    let failures = sum(.failures)
    let engine = try await RedisPlugin().open(url)
    let exercise = Exercise(engine: engine, ledger: ledger)
    var found: Set<String> = []
    for entry in entries where try await exercise.read(entry) != nil { found.insert(try Exercise.key(entry).text) }
    #expect(ledger[.objections] == 0, "seed \(Load.seed): \(output)")
    #expect(Set(try await engine.keys()) == found)
    #expect(try await engine.count().entries == found.count)
    #expect(try await engine.check().isEmpty)
    try await engine.close()
    let time = start.duration(to: .now)
    Load.report(
      "\(what): \(ledger[.changes]) changes, \(ledger[.found]) found, \(ledger[.absent]) absent, "
        + "\(ledger[.outdated]) outdated, \(failures) failed in \(time)\n\(output)")
  }
}
