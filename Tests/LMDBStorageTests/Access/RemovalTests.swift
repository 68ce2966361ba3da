import Foundation
import StorageSPI
import Testing

@testable import LMDBStorage

/// A store is removed in whatever state it is, but not while it is open.
@Suite struct RemovalTests {
  @Test(arguments: ["", "this is no store", String(repeating: "x", count: 90_000)])
  func whatCannotBeOpenedIsRemoved(content: String) async throws {
    let store = try TestStore()
    try await store.open().close()
    try Data(content.utf8).write(to: URL(fileURLWithPath: store.dataFile))
    _ = try await LMDBPlugin().removeStore(try store.configuration, movingAside: nil)
    #expect(!FileManager.default.fileExists(atPath: store.dataFile))
    let engine = try await store.open()
    #expect(try await engine.checkIntegrity().isEmpty)
    #expect(try await engine.statistics().entries == 0)
    try await engine.close()
  }

  @Test func aStoreThatIsOpenStays() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let configuration = try store.configuration
    do throws(CacheError) {
      _ = try await LMDBPlugin().removeStore(configuration, movingAside: nil)
      Issue.record("it was removed")
    } catch {
      #expect(error.code == .busy)
    }
    #expect(FileManager.default.fileExists(atPath: store.dataFile))
    try await engine.close()
    _ = try await LMDBPlugin().removeStore(configuration, movingAside: nil)
    #expect(!FileManager.default.fileExists(atPath: store.dataFile))
  }
}
