import Foundation
import EngineAPI
import Testing

/// Several connections and processes at one store.
@Suite struct SharingTests {
  @Test(arguments: Durability.allCases)
  func aWriterThatHoldsTheStoreMakesOthersBusy(durability: Durability) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open(durability: durability)
    try await engine.put("cities/a", [1])
    let other = try OtherConnection(folder.store)
    try other.execute("BEGIN IMMEDIATE")
    #expect(try await code { try await engine.put("cities/a", [2]) } == .busy)
    #expect(try await engine.payload("cities/a") == [1], "reading must not wait for a writer")
    try other.execute("ROLLBACK")
    try await engine.put("cities/a", [2])
    #expect(try await engine.payload("cities/a") == [2])
    try await engine.close()
  }

  @Test func aWaitingWriterGetsItsTurn() async throws {
    let folder = try TestFolder()
    let engine = try await folder.open(busyTimeout: 60_000)
    let other = try OtherConnection(folder.store)
    try other.execute("BEGIN IMMEDIATE")
    async let write: Void = engine.put("cities/a", [1])
    try other.execute("COMMIT")
    try await write
    #expect(try await engine.payload("cities/a") == [1])
    try await engine.close()
  }

  @Test func handlesSeeEachOthersCommits() async throws {
    let folder = try TestFolder()
    let (one, two) = (try await folder.open(), try await folder.open())
    for number in UInt8(0)..<20 {
      try await one.put("cities/a", [number])
      #expect(try await two.payload("cities/a") == [number])
      try await two.put("cities/b", [number])
      #expect(try await one.payload("cities/b") == [number])
    }
    try await one.close()
    #expect(try await two.payload("cities/a") == [19])
    try await two.close()
  }

  @Test func manyMakeOneNewStoreAtOnce() async throws {
    let folder = try TestFolder()
    let path = folder.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask { [folder = UncheckedFolder(folder)] in
          let engine = try await folder.value.open(at: path, busyTimeout: 60_000)
          try await engine.put("cities/\(number)", [UInt8(number)])
          try await engine.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try folder.shell("SELECT count(*) FROM entries") == "8")
  }

  @Test func readingLeavesEveryFileAsItWas() async throws {
    let folder = try TestFolder()
    let writer = try await folder.open()
    try await writer.put("cities/a", [1])
    try await writer.close()
    let before = try contents(of: folder)
    let reader = try await folder.open()
    #expect(try await reader.payload("cities/a") == [1])
    _ = try await reader.scan(ScanRequest(limit: 5))
    try await reader.close()
    #expect(try contents(of: folder) == before)
  }

  /// The files but the log's index, which is shared memory.
  private func contents(of folder: TestFolder) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      contents[name] =
        name.hasSuffix("-shm") ? Data() : try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
    }
    return contents
  }
}

/// A folder for several tasks: what they use of it never changes.
struct UncheckedFolder: @unchecked Sendable {
  let value: TestFolder
  init(_ value: TestFolder) { self.value = value }
}
