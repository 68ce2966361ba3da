import Foundation
import SeededNumbers
import Testing

/// Processes that write are killed at random instants. After each the store must open, be intact, and hold every batch
/// that was acknowledged; the unacknowledged one is complete or absent. Few of few kills can hit late: at least one
/// batch for four kills shows that they hit something.
@Suite struct CrashTests {
  /// A fraction of all kills for one engine.
  private static func share(_ percent: Int) -> Int {
    max(1, TestEnvironment.kills * percent / 100 / TestEnvironment.engines.count)
  }

  @Test(arguments: TestEnvironment.engines) func writer(engine: String) async throws {
    try await onThread {
      var run = CrashRun(engine, TestEnvironment.seed)
      try run.repeated(Self.share(55), storeEvery: 10) { store, run in
        let writer = try store.startWriter()
        try run.kill(writer, afterLines: 1...8, within: 20)
        store.acknowledge(writer)
      }
      #expect(run.batches > Self.share(55) / 4, "the kills have hit nothing, seed \(TestEnvironment.seed)")
    }
  }

  @Test(arguments: TestEnvironment.engines) func duringCompaction(engine: String) async throws {
    try await onThread {
      var run = CrashRun(engine, TestEnvironment.seed + 1)
      try run.repeated(Self.share(15), storeEvery: 4) { store, run in
        let writer = try store.startWriter(0, ["compact": 2])
        try run.kill(writer, afterLines: 2...9, within: 20)
        store.acknowledge(writer)
      }
      #expect(run.batches > Self.share(15) / 4, "the kills have hit nothing, seed \(TestEnvironment.seed)")
    }
  }

  @Test(arguments: TestEnvironment.engines) func duringCreation(engine: String) async throws {
    try await onThread {
      var run = CrashRun(engine, TestEnvironment.seed + 2)
      try run.repeated(Self.share(15), storeEvery: 1) { store, run in
        let writer = try store.startWriter()
        try run.kill(writer, afterLines: 1...1, within: 6)
        store.acknowledge(writer)
      }
    }
  }

  /// In a store at its limit, the evictions and the write are one step, at whatever moment the process dies.
  @Test(arguments: TestEnvironment.engines) func duringEvictions(engine: String) async throws {
    try await onThread {
      var (run, next) = (CrashRun(engine, TestEnvironment.seed + 4), 0)
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: TestEnvironment.seed, in: folder)
      for round in 0..<Self.share(15) {
        let writer = try store.start("evict", ["from": next])
        try run.kill(writer, afterLines: 2...60, within: 20)
        let written = writer.lines.compactMap { $0.hasPrefix("A ") ? Int($0.dropFirst(2)) : nil }.last
        let checker = try store.start("checkEvicted", ["acknowledged": max(next, (written ?? -1) + 1)])
        let status = checker.end()
        let found = checker.lines.compactMap { $0.hasPrefix("NEXT ") ? Int($0.dropFirst(5)) : nil }.first
        next = try #require(
          status == 0 ? found : nil,
          "round \(round), seed \(TestEnvironment.seed): \(checker.lines.last ?? "") \(checker.errors), status \(status)"
        )
      }
      #expect(next > 1_200 + Self.share(15) / 4, "the kills have hit nothing, seed \(TestEnvironment.seed)")
    }
  }

  /// One of two writers is killed, and the other must get on; then that one.
  @Test(arguments: TestEnvironment.engines) func oneOfTwoWriters(engine: String) async throws {
    try await onThread {
      var run = CrashRun(engine, TestEnvironment.seed + 3)
      try run.repeated(Self.share(15) / 2 + 1, storeEvery: 3, writers: 2) { store, run in
        let (first, second) = (try store.startWriter(0), try store.startWriter(1))
        try run.kill(first, afterLines: 1...8, within: 20)
        let before = second.lines.count
        // A few lines may have been on their way before the kill: so many are not.
        #expect(second.read(for: .seconds(1_800)) { $0.count > before + 40 }, "the survivor is stuck: \(store)")
        try run.kill(second, afterLines: 1...1, within: 20)
        store.acknowledge(first, 0)
        store.acknowledge(second, 1)
      }
    }
  }
}

/// Kills at random instants, and their results.
struct CrashRun {
  private let engine: String
  private let seed: Int
  private var random: SeededGenerator
  /// How many batches were committed in all.
  private(set) var batches = 0

  init(_ engine: String, _ seed: Int) {
    (self.engine, self.seed) = (engine, seed)
    random = SeededGenerator(seed: UInt64(seed))
  }

  /// Does `round` some times, each time followed by a check, with a new store every so many times.
  mutating func repeated(
    _ count: Int, storeEvery: Int, writers: Int = 1, _ round: (TestedStore, inout CrashRun) throws -> Void
  ) throws {
    for first in stride(from: 0, to: count, by: storeEvery) {
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: seed + first, writers: writers, in: folder)
      for _ in first..<min(first + storeEvery, count) {
        try round(store, &self)
        try store.check()
      }
      batches += store.committed.reduce(0, +)
    }
  }

  /// Kills a process at some instant after some of its first lines.
  mutating func kill(_ program: Program, afterLines lines: ClosedRange<Int>, within milliseconds: Int) throws {
    let count = Int.random(in: lines, using: &random)
    try #require(
      program.read(for: .seconds(1_800)) { $0.count >= count }, "it is stuck: \(program.lines) \(program.errors)")
    program.read(for: .microseconds(Int.random(in: 0...milliseconds * 1_000, using: &random)))
    program.kill()
    let status = program.end()
    #expect(status == 128 + SIGKILL, "it ended by itself: \(program.lines.last ?? "") \(program.errors)")
  }
}
