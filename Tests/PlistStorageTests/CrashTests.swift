import Foundation
import SeededNumbers
import StorageSPI
import Synchronization
import Testing

@testable import PlistStorage

/// A change of a store, and what the store holds before and after.
private struct Scenario: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let before: [String: String]
  let puts: [String: String]
  let removals: [String]

  static let all = [
    Scenario(testDescription: "create", before: [:], puts: ["a/1": "new"], removals: []),
    Scenario(testDescription: "replace", before: ["a/1": "old", "b/1": "x"], puts: ["a/1": "new"], removals: []),
    Scenario(testDescription: "remove", before: ["a/1": "old", "b/1": "x"], puts: [:], removals: ["a/1"]),
    Scenario(
      testDescription: "three namespaces", before: ["a/1": "old", "b/1": "old", "d/1": "x"],
      puts: ["a/1": "new", "c/1": "new"], removals: ["b/1"]),
  ]

  var after: [String: String] {
    before.filter { !removals.contains($0.key) }.merging(puts) { $1 }
  }

  func apply(to engine: PlistEngine) async throws {
    var batch = WriteBatch()
    for (key, text) in puts.sorted(by: { $0.key < $1.key }) {
      batch.put(try CacheKey(key), payload: Array(text.utf8), metadata: .sample())
    }
    for key in removals { batch.remove(try CacheKey(key)) }
    try await engine.apply(batch)
  }
}

/// Makes each system call of a commit fail in turn.
@Suite struct CrashTests {
  /// `normal` makes the calls of `full` but the last one.
  private static let durabilities: [Durability] = Thoroughness.isFull ? Durability.allCases : [.full, .relaxed]

  /// Runs the scenario on a fresh store with `fault(n)` for n = 1, 2, ... until the fault comes too late to matter.
  private func forEveryCall(
    of scenario: Scenario, _ durability: Durability, _ fault: (Int) -> FaultyFileSystem.Fault,
    _ check: (TemporaryFolder, PlistEngine, CacheError?, Int) async throws -> Void
  ) async throws {
    var number = 0
    var calls = 0
    repeat {
      number += 1
      let folder = try TemporaryFolder()
      try await folder.open(.relaxed).put(scenario.before)
      let fileSystem = FaultyFileSystem()
      let engine = try await folder.open(durability, fileSystem: fileSystem)
      _ = try await engine.contents()
      fileSystem.begin(fault(number))
      var failure: CacheError?
      do { try await scenario.apply(to: engine) } catch { failure = try #require(error as? CacheError) }
      calls = fileSystem.trace.count
      fileSystem.begin()
      try await check(folder, engine, failure, number)
    } while number <= calls
    #expect(number > 6)
  }

  @Test(arguments: Scenario.all, durabilities)
  private func deathLeavesOldOrNew(scenario: Scenario, durability: Durability) async throws {
    try await forEveryCall(of: scenario, durability, { .death(at: $0) }) { folder, _, failure, number in
      let contents = try await folder.open().contents()
      #expect(contents == scenario.after || failure != nil && contents == scenario.before, "death at call \(number)")
      // The next write leaves nothing behind of what was interrupted.
      try await folder.open().put(["z/1": "z"])
      #expect(try folder.names().allSatisfy { $0.hasSuffix(".json") || $0 == "store.lock" }, "death at call \(number)")
    }
  }

  @Test(arguments: Scenario.all, durabilities)
  private func failureChangesNothing(scenario: Scenario, durability: Durability) async throws {
    for errno in [EIO, ENOSPC] {
      try await forEveryCall(of: scenario, durability, { .once(at: $0, errno: errno) }) {
        folder, engine, failure, number in
        let expected = failure == nil ? scenario.after : scenario.before
        #expect(try await engine.contents() == expected, "errno \(errno) at call \(number)")
        #expect(try await folder.open().contents() == expected, "errno \(errno) at call \(number)")
        if let failure { #expect(failure.code == (errno == ENOSPC ? .noSpace : .ioFailed), "\(failure)") }
        let leftovers = try folder.names().filter { $0.hasSuffix(".new") || $0.hasSuffix(".journal") }
        #expect(leftovers.isEmpty, "errno \(errno) at call \(number)")
      }
    }
  }

  /// From some call on, nothing can be written any more, but files can still be made, renamed and removed.
  @Test(arguments: Scenario.all, durabilities)
  private func aDiskThatStaysFullLeavesOldOrNew(scenario: Scenario, durability: Durability) async throws {
    let fault = { (number: Int) in
      let calls = Mutex(0)
      return FaultyFileSystem.Fault.rule { call, _ in
        calls.withLock { calls in
          calls += 1
          return calls >= number && ["write", "fsync"].contains(call) ? ENOSPC : nil
        }
      }
    }
    try await forEveryCall(of: scenario, durability, fault) { folder, engine, failure, number in
      let contents = try await engine.contents()
      #expect(contents == scenario.after || failure != nil && contents == scenario.before, "full at call \(number)")
      #expect(try await folder.open().contents() == contents, "full at call \(number)")
      if let failure { #expect(failure.code == .noSpace, "\(failure)") }
      let leftovers = try folder.names().filter { $0.hasSuffix(".new") || $0.hasSuffix(".journal") }
      #expect(leftovers.isEmpty, "full at call \(number)")
    }
  }

  @Test func whatIsPutBackIsSynchronizedFirst() async throws {
    let folder = try TemporaryFolder()
    try await folder.open(.relaxed).put(["a/1": "old"])
    let fileSystem = FaultyFileSystem()
    let engine = try await folder.open(.full, fileSystem: fileSystem)
    try await engine.put(["a/1": "x"])
    fileSystem.begin()
    try await engine.put(["a/1": "x"])
    let number = try #require(fileSystem.trace.lastIndex(of: "fsync")) + 1
    fileSystem.begin(.once(at: number, errno: EIO))
    #expect(await code { try await engine.put(["a/1": "new"]) } == .ioFailed, "call \(number)")
    #expect(try await folder.open().contents() == ["a/1": "x"])
    let putBack = fileSystem.trace.dropFirst(number)
    let rename = try #require(putBack.firstIndex(of: "rename a.json"))
    #expect(putBack[..<rename].contains("fsync"), "\(putBack)")
  }

  @Test func aJournalIsFinishedByTheNextReader() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "old", "b/1": "old", "c/1": "old"])
    let next = try TemporaryFolder()
    try await next.open().put(["a/1": "new"])
    try folder.write(try next.bytes("a.json"), to: "a.json.new")
    try folder.write("cachectl plist batch 1\nreplace a\nreplace b\nremove c\nend\n", to: "batch.journal")
    #expect(try await folder.open().contents() == ["a/1": "new", "b/1": "old"])
    #expect(try folder.names() == ["a.json", "b.json", "store.lock"])
  }

  @Test(arguments: [
    "", "cachectl plist batch 1\n", "cachectl plist batch 1\nremove a\n", "cachectl plist batch 1\nremove a\nend",
    "cachectl plist batch 1\nremove ../a\nend\n", "cachectl plist batch 1\nerase a\nend\n", "nonsense\nremove a\nend\n",
  ])
  func aDamagedJournalStopsWritesAlone(text: String) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "old"])
    try folder.write(text, to: "batch.journal")
    let engine = try await folder.open()
    #expect(try await engine.contents() == ["a/1": "old"])
    #expect(await code { try await engine.put(["b/1": "new"]) } == .damaged)
    #expect(try await engine.checkIntegrity().map(\.kind) == [.structure])
    #expect(try folder.names() == ["a.json", "batch.journal", "store.lock"])
    #expect(try folder.text("batch.journal") == text)
  }

  @Test func aJournalOfANewerVersionIsRefused() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "old"])
    try folder.write("cachectl plist batch 2\nerase a\nend\n", to: "batch.journal")
    #expect(await code { _ = try await folder.open().contents() } == .unsupportedFormat)
    #expect(try folder.names().contains("batch.journal"))
  }

  @Test(arguments: [
    (Durability.full, ["write", "fsync", "rename a.json", "fsync"]), (.normal, ["write", "fsync", "rename a.json"]),
    (.relaxed, ["write", "rename a.json"]),
  ])
  func durabilityIsAMatterOfSynchronizing(durability: Durability, expected: [String]) async throws {
    let folder = try TemporaryFolder()
    let fileSystem = FaultyFileSystem()
    let engine = try await folder.open(durability, fileSystem: fileSystem)
    try await engine.put(["a/1": "x"])
    var steps: [String] = []
    for call in fileSystem.trace where ["write", "fsync", "rename a.json"].contains(call) && call != steps.last {
      steps.append(call)
    }
    #expect(steps == expected)
  }
}
