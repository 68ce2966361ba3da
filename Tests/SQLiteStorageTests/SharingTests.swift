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
}

/// A directory for several tasks. They use only its constant properties.
struct UncheckedFolder: @unchecked Sendable {
  let value: TestFolder
  init(_ value: TestFolder) { self.value = value }
}
