import EngineSupport
import Foundation
import StorageSPI
import Synchronization
import Testing

@testable import PlistStorage

/// Batches that wait at the same time are written together, and each stands for itself.
@Suite struct GatheringTests {
  private func write(_ contents: [String: String], _ build: (inout WriteBatch) throws -> Void = { _ in }) throws
    -> PlistWrite
  {
    var batch = WriteBatch()
    try build(&batch)
    for (key, text) in contents { batch.put(try CacheKey(key), payload: Array(text.utf8), metadata: .sample(1)) }
    return PlistWrite(batch)
  }

  private func store(_ folder: TemporaryFolder, _ fileSystem: FaultyFileSystem) -> PlistStore {
    PlistStore(PlistOptions(path: folder.store), fileSystem: fileSystem)
  }

  private func codes(_ writes: [PlistWrite]) -> [CacheError.Code?] { writes.map { $0.failure.withLock { $0?.code } } }

  /// In `b` there is damage, in `a` there is room for four entries.
  private func mixedWrites() throws -> [PlistWrite] {
    let bounds = StoreBounds(maxEntries: 4, maxPayloadBytes: .max)
    return [
      try write(["a/1": "x"]),
      try write(["a/2": "x", "c/2": "x"]) { $0.require(try CacheKey("a/1"), .absent) },
      try write(["a/3": "x", "c/3": "x", "c/4": "x", "c/5": "x"]) { $0.bounds = bounds },
      try write(["a/4": "x", "b/1": "x"]),
      try write(["a/5": "x", "c/1": "x"]) { $0.require(try CacheKey("a/1"), .checksum(1)) },
      try write([:]) { $0.remove(try CacheKey("d/1")) },
      try write(["a/6": "x"]) { $0.bounds = bounds },
      try write(["a/7": "x"]) { $0.bounds = bounds },
    ]
  }
  private static let mixedCodes: [CacheError.Code?] = [
    nil, .conflict, .overBounds, .damaged, nil, nil, nil, .overBounds,
  ]
  private static let mixedContents = ["a/1": "x", "a/5": "x", "a/6": "x", "c/1": "x"]

  @Test func eachBatchIsAllOrNothingAndFailsForItself() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["b/9": "y"])
    try folder.write("{", to: "b.json")
    let fileSystem = FaultyFileSystem()
    let writes = try mixedWrites()
    store(folder, fileSystem).apply(writes)
    #expect(codes(writes) == Self.mixedCodes)
    #expect(
      fileSystem.trace.filter { $0.hasPrefix("rename") } == ["rename batch.journal", "rename a.json", "rename c.json"])
    try FileManager.default.removeItem(atPath: folder.file("b.json"))
    #expect(try await folder.open().contents() == Self.mixedContents)
  }

  /// The disk may have room for the files of some of the batches, but not for those of all.
  @Test func ifTheyCannotBeWrittenTogetherEachIsWrittenAlone() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["b/9": "y"])
    try folder.write("{", to: "b.json")
    let isFirst = Mutex(true)
    let fileSystem = FaultyFileSystem(
      .rule { call, _ in
        guard call == "write" else { return nil }
        return isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst ? ENOSPC : nil
        }
      })
    let writes = try mixedWrites()
    store(folder, fileSystem).apply(writes)
    #expect(codes(writes) == Self.mixedCodes)
    try FileManager.default.removeItem(atPath: folder.file("b.json"))
    #expect(try await folder.open().contents() == Self.mixedContents)
  }

  @Test(arguments: ["write", "lock exclusively"]) func whatFailsForAllIsEachOnesFailure(call: String) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/9": "y"])
    let fileSystem = FaultyFileSystem(.rule { step, _ in step == call ? ENOSPC : nil })
    let writes = try (1...3).map { try write(["a/\($0)": "x"]) }
    store(folder, fileSystem).apply(writes)
    #expect(codes(writes) == [.noSpace, .noSpace, .noSpace])
    #expect(try await folder.open().contents() == ["a/9": "y"])
  }

  /// The first write is under way until all the others wait.
  @Test func manyCallsAtOnceWriteAFileTwice() async throws {
    let folder = try TemporaryFolder()
    let goAhead = DispatchSemaphore(value: 0)
    let isFirst = Mutex(true)
    let fileSystem = FaultyFileSystem(
      .rule { call, _ in
        let waits = isFirst.withLock { isFirst in
          defer { if call == "rename" { isFirst = false } }
          return isFirst && call == "rename"
        }
        if waits { goAhead.wait() }
        return nil
      })
    let engine = try await folder.open(fileSystem: fileSystem)
    // Each runs on this thread until it waits for the engine.
    let tasks = (0..<2_000).map { number in Task.immediate { try await engine.put(["a/\(number)": "\(number)"]) } }
    goAhead.signal()
    for task in tasks { try await task.value }
    #expect(fileSystem.trace.count { $0 == "rename a.json" } <= 2)
    #expect(try await folder.open().contents().count == 2_000)
  }
}
