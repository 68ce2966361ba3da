import Dispatch
import EngineAPI
import Foundation
import Synchronization
import Testing

@testable import PlistStorage

/// Batches that wait at the same time are committed together. Each of them is atomic.
@Suite struct GatheringTests {
  /// Holds the thread of a store back in its system calls `action` until it is opened.
  private final class Gate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    let system: FaultySystem

    init(_ action: String, failure: @escaping @Sendable (_ action: String) -> Int32? = { _ in nil }) {
      let isOpen = isOpen
      system = FaultySystem(
        .rule { call, _ in
          guard call == action else { return failure(call) }
          isOpen.wait()
          isOpen.signal()
          return failure(call)
        })
    }

    func open() { isOpen.signal() }
  }

  private func batch(_ keys: String..., build: (inout WriteBatch) throws -> Void = { _ in }) throws -> WriteBatch {
    var batch = WriteBatch()
    try build(&batch)
    for key in keys { batch.put(try CacheKey(key), payload: [UInt8(ascii: "x")], metadata: .sample(1)) }
    return batch
  }

  /// Applies `batches` during a call of the same engine, and returns the error of each of them.
  private func codes(
    of batches: [WriteBatch], in folder: TemporaryFolder, _ gate: Gate
  ) async throws -> [CacheError.Code?] {
    let engine = try await folder.open(.normal, gate.system)
    let first = Task.immediate { try? await engine.check() }
    // Each runs on this thread until its batch waits.
    let tasks = batches.map { batch in Task.immediate { await code { try await engine.apply(batch) } } }
    gate.open()
    _ = await first.value
    var codes: [CacheError.Code?] = []
    for task in tasks { codes.append(await task.value) }
    return codes
  }

  private func replaced(_ gate: Gate) -> [String] { gate.system.trace.filter { $0.hasPrefix("replace ") } }

  /// A store with an entry in each of `a` and `c`, and damage in `b`.
  private func damagedStore() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/0": "x", "b/0": "x", "c/0": "x"])
    try folder.write("{", to: "b.json")
    return folder
  }

  private func mixedBatches() throws -> [WriteBatch] {
    let bounds = StoreBounds(maxEntries: 5, maxPayloadBytes: .max, exemptNamespace: "b")
    return [
      try batch("a/1"),
      try batch("a/2", "c/2") { $0.require(try CacheKey("a/1"), .absent) },
      try batch("a/3", "c/3", "c/4", "c/5") { $0.bounds = bounds },
      try batch("a/4", "b/1"),
      try batch("a/0", "c/1") { $0.require(try CacheKey("a/1"), .checksum(1)) },
      try batch { $0.remove(try CacheKey("d/1")) },
      try batch("a/5") {
        $0.remove(try CacheKey("a/0"))
        $0.bounds = bounds
      },
      try batch("a/6", "a/7") { $0.bounds = bounds },
      try batch("a/8") { $0.require(try CacheKey("a/2"), .absent) },
    ]
  }

  @Test func aBatchThatFailsLeavesTheOthersAlone() async throws {
    let folder = try await damagedStore()
    let gate = Gate("lock")
    #expect(
      try await codes(of: mixedBatches(), in: folder, gate) == [
        nil, .conflict, .overBounds, .damaged, nil, nil, nil, .overBounds, nil,
      ])
    #expect(replaced(gate) == ["replace a.json", "replace c.json"])
    try FileManager.default.removeItem(atPath: folder.file("b.json"))
    #expect(try await folder.open().contents() == ["a/1": "x", "a/5": "x", "a/8": "x", "c/0": "x", "c/1": "x"])
  }

  @Test func aFileOfSomeoneElseFailsOnlyTheBatchesThatNeedItsName() async throws {
    let folder = try await damagedStore()
    try folder.write("mine", to: "d.json")
    let gate = Gate("lock")
    let batches = try [
      batch("a/1"), batch("c/1", "d/1"), batch { $0.remove(try CacheKey("d/1")) },
      batch("c/2") { $0.require(try CacheKey("c/1"), .absent) },
    ]
    #expect(try await codes(of: batches, in: folder, gate) == [nil, .cannotCreate, nil, nil])
    #expect(replaced(gate) == ["replace a.json", "replace c.json"])
    #expect(try folder.text("d.json") == "mine")
  }

  /// As if the store were closed between the start of a call and its turn.
  @Test func aBatchThatComesAfterTheEndIsNotWritten() async throws {
    let folder = try TemporaryFolder()
    let store = PlistStore(PlistFolder(PlistOptions(path: folder.store), StoreFiles()))
    try store.folder.makeStore()
    let write = store.enqueue(try batch("a/1"))
    store.release()
    #expect(await code { try store.finish(write) } == .closed)
    #expect(await code { _ = try store.count() } == .closed)
    #expect(try folder.names() == [])
  }

  @Test(arguments: ["write", "replace", "synchronize"])
  func aCommitThatFailsFailsAllAndLeavesNothing(call: String) async throws {
    let folder = try await damagedStore()
    let before = try (folder.text("a.json"), folder.text("c.json"))
    let gate = Gate("lock") { $0 == call ? ENOSPC : nil }
    var batches = try [batch("a/1"), batch("a/2") { $0.require(try CacheKey("a/1"), .absent) }]
    // If there are several files, the commit takes effect before one is replaced.
    if call != "replace" { batches += try mixedBatches() }
    #expect(try await codes(of: batches, in: folder, gate) == batches.map { _ in .noSpace })
    #expect(try (folder.text("a.json"), folder.text("c.json")) == before)
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "store.lock"])
  }

  @Test func aStoreThatCannotBeLockedFailsAll() async throws {
    let folder = try await damagedStore()
    let gate = Gate("lock") { $0 == "lock" ? EWOULDBLOCK : nil }
    #expect(try await codes(of: [batch("a/1"), batch("c/1")], in: folder, gate) == [.busy, .busy])
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "store.lock"])
  }

  @Test func theBatchesThatWaitWriteAFileOnce() async throws {
    let folder = try TemporaryFolder()
    let gate = Gate("lock")
    let batches = try (0..<400).map { try batch("a/\($0)") }
    #expect(try await codes(of: batches, in: folder, gate).allSatisfy { $0 == nil })
    #expect(replaced(gate) == ["replace a.json"])
    #expect(try await folder.open().count().entries == 400)
  }

  @Test func batchesThatArriveDuringACommitWaitForTheNext() async throws {
    let folder = try TemporaryFolder()
    let gate = Gate("replace")
    let engine = try await folder.open(.normal, gate.system)
    let tasks = (0..<400).map { number in Task.immediate { try await engine.put(["a/\(number)": "x"]) } }
    gate.open()
    for task in tasks { try await task.value }
    // The first turn can begin with more than one.
    #expect((1...2).contains(replaced(gate).count))
    #expect(try await folder.open().count().entries == 400)
  }
}
