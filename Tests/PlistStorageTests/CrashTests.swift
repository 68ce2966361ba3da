import Foundation
import SeededNumbers
import EngineAPI
import Synchronization
import Testing

@testable import PlistStorage

/// A change of a store, and the store's content before and after.
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
    of scenario: Scenario, _ durability: Durability, _ fault: (Int) -> FaultySystem.Fault,
    _ check: (TemporaryFolder, PlistEngine, CacheError?, Int) async throws -> Void
  ) async throws {
    var number = 0
    var calls = 0
    repeat {
      number += 1
      let folder = try TemporaryFolder()
      try await folder.open(.relaxed).put(scenario.before)
      let system = FaultySystem()
      let engine = try await folder.open(durability, system)
      _ = try await engine.contents()
      system.begin(fault(number))
      var failure: CacheError?
      do { try await scenario.apply(to: engine) } catch { failure = try #require(error as? CacheError) }
      calls = system.trace.count
      system.begin()
      try await check(folder, engine, failure, number)
    } while number <= calls
    #expect(number > 6)
  }

  @Test(arguments: Scenario.all, durabilities)
  private func deathLeavesOldOrNew(scenario: Scenario, durability: Durability) async throws {
    try await forEveryCall(of: scenario, durability, { .death(at: $0) }) { folder, _, failure, number in
      let contents = try await folder.open().contents()
      #expect(contents == scenario.after || failure != nil && contents == scenario.before, "death at call \(number)")
      // The next write removes the files of the interrupted one.
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
        let leftovers = try folder.names().filter { $0.hasSuffix(".new") || $0.hasSuffix(".commit") }
        #expect(leftovers.isEmpty, "errno \(errno) at call \(number)")
      }
    }
  }

  /// From some call on, nothing can be written any more, but files can still be made, renamed and removed.
  @Test(arguments: Scenario.all, durabilities)
  private func aDiskThatStaysFullLeavesOldOrNew(scenario: Scenario, durability: Durability) async throws {
    let fault = { (number: Int) in
      let calls = Mutex(0)
      return FaultySystem.Fault.rule { call, _ in
        calls.withLock { calls in
          calls += 1
          return calls >= number && ["write", "synchronize"].contains(call) ? ENOSPC : nil
        }
      }
    }
    try await forEveryCall(of: scenario, durability, fault) { folder, engine, failure, number in
      let contents = try await engine.contents()
      #expect(contents == scenario.after || failure != nil && contents == scenario.before, "full at call \(number)")
      #expect(try await folder.open().contents() == contents, "full at call \(number)")
      if let failure { #expect(failure.code == .noSpace, "\(failure)") }
      let leftovers = try folder.names().filter { $0.hasSuffix(".new") || $0.hasSuffix(".commit") }
      #expect(leftovers.isEmpty, "full at call \(number)")
    }
  }

  @Test func restoredFilesAreSynchronizedFirst() async throws {
    let folder = try TemporaryFolder()
    try await folder.open(.relaxed).put(["a/1": "old"])
    let system = FaultySystem()
    let engine = try await folder.open(.full, system)
    try await engine.put(["a/1": "x"])
    system.begin()
    try await engine.put(["a/1": "x"])
    let number = try #require(system.trace.lastIndex(of: "synchronize store")) + 1
    system.begin(.once(at: number, errno: EIO))
    #expect(await code { try await engine.put(["a/1": "new"]) } == .ioFailed, "call \(number)")
    #expect(try await folder.open().contents() == ["a/1": "x"])
    let putBack = system.trace.dropFirst(number)
    let rename = try #require(putBack.firstIndex(of: "replace a.json"))
    #expect(putBack[..<rename].contains("synchronize a.json.new"), "\(putBack)")
  }

  /// A store as a writer leaves it that dies when it has written new files of `a` and `c`: of `c` all entries are removed.
  private func interruptedStore() async throws -> TemporaryFolder {
    let (folder, next) = (try TemporaryFolder(), try TemporaryFolder())
    try await folder.open().put(["a/1": "old", "b/1": "old", "c/1": "old"])
    try await next.open().put(["a/1": "new"])
    try folder.write(try next.bytes("a.json"), to: "a.json.new")
    try folder.write("{\"format\": 1, \"namespace\": \"c\", \"entries\": {}}", to: "c.json.new")
    return folder
  }

  @Test func aCommitThatHasTakenEffectIsFinishedByTheNextReader() async throws {
    let folder = try await interruptedStore()
    let engine = try await folder.open()
    #expect(try await engine.text("a/1") == "old")
    try folder.write("", to: "store.commit")
    #expect(try await engine.contents() == ["a/1": "new", "b/1": "old"])
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "store.lock"])
  }

  @Test func aCommitThatHasNotTakenEffectIsDroppedByTheNextWriter() async throws {
    let folder = try await interruptedStore()
    let contents = ["a/1": "old", "b/1": "old", "c/1": "old"]
    #expect(try await folder.open().contents() == contents)
    #expect(try await folder.open().check() == [])
    #expect(try folder.names().contains("a.json.new"))
    try await folder.open().put(["a/2": "x", "b/2": "x"])
    #expect(try await folder.open().contents() == contents.merging(["a/2": "x", "b/2": "x"]) { $1 })
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "store.lock"])
  }

  /// It is not empty, as the engine's is.
  @Test func theFileOfSomeoneElseDoesNotFinishACommit() async throws {
    let folder = try await interruptedStore()
    try folder.write("mine", to: "store.commit")
    #expect(try await folder.open().text("a/1") == "old")
    #expect(await code { try await folder.open().put(["a/2": "x", "b/2": "x"]) } == .ioFailed)
    try await folder.open().put(["a/2": "x"])
    #expect(try await folder.open().contents() == ["a/1": "old", "a/2": "x", "b/1": "old", "c/1": "old"])
    #expect(try folder.text("store.commit") == "mine")
  }

  @Test(arguments: [
    (
      Durability.full, ["synchronize store.lock", "synchronize a.json.new", "replace a.json", "synchronize store"],
      ["synchronize b.json.new", "create store.commit", "synchronize store", "replace b.json", "synchronize store"]
    ),
    (
      .normal, ["synchronize store.lock", "synchronize a.json.new", "replace a.json"],
      ["synchronize b.json.new", "create store.commit", "synchronize store", "replace b.json", "synchronize store"]
    ),
    (.relaxed, ["replace a.json"], ["create store.commit", "replace b.json"]),
  ])
  func durabilityIsAMatterOfSynchronizing(durability: Durability, one: [String], two: [String]) async throws {
    func isStep(_ call: String) -> Bool {
      call.hasPrefix("synchronize") || call.hasPrefix("replace") || call == "create store.commit"
    }
    let folder = try TemporaryFolder()
    let system = FaultySystem()
    let engine = try await folder.open(durability, system)
    try await engine.put(["a/1": "x"])
    #expect(system.trace.filter(isStep) == one)
    try await engine.put(["b/1": "x"])
    system.begin()
    try await engine.put(["a/1": "y", "b/1": "y"])
    let steps = system.trace.filter { isStep($0) && !$0.contains("a.json") }
    let removal = try #require(system.trace.lastIndex(of: "remove store.commit"))
    #expect(system.trace[removal...].contains("synchronize store") == (durability != .relaxed))
    #expect(steps == two + (durability == .relaxed ? [] : ["synchronize store"]))
  }
}
