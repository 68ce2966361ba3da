import Foundation
import EngineAPI
import Testing

@testable import PlistStorage

/// Bounds are over the files of all namespaces.
@Suite struct CacheCoreTests {
  private func put(
    _ contents: [String: String], within maxEntries: Int, exempt: String? = nil, _ engine: PlistEngine
  ) async throws {
    var batch = WriteBatch()
    for (key, text) in contents { batch.put(try CacheKey(key), payload: Array(text.utf8), metadata: .sample()) }
    batch.bounds = StoreBounds(maxEntries: maxEntries, maxPayloadBytes: .max, exemptNamespace: exempt)
    try await engine.apply(batch)
  }

  @Test func filesThatTheBatchDoesNotTouchAreCounted() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y", "leases/1": "z"])
    for exempt in [nil, "leases"] {
      let engine = try await folder.open()
      let room = exempt == nil ? 4 : 3
      #expect(await code { try await put(["c/1": "x"], within: room - 1, exempt: exempt, engine) } == .overBounds)
      #expect(try folder.names() == ["a.json", "b.json", "leases.json", "store.lock"])
      try await put(["c/1": "x"], within: room, exempt: exempt, engine)
      try await engine.remove("c/1")
    }
  }

  @Test func otherHandlesAreCounted() async throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try await folder.open(), try await folder.open())
    try await put(["a/1": "x"], within: 2, first)
    try await put(["b/1": "x"], within: 2, second)
    #expect(await code { try await put(["a/2": "x"], within: 2, first) } == .overBounds)
    try await second.remove("b/1")
    try await put(["a/2": "x"], within: 2, first)
    #expect(try await second.contents() == ["a/1": "x", "a/2": "x"])
  }

  @Test func withoutBoundsOtherFilesAreNotLookedAt() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    let system = FaultySystem()
    let engine = try await folder.open(.normal, system)
    try await engine.put(["a/2": "x"])
    #expect(!system.trace.contains { $0.hasSuffix("b.json") })
    system.begin()
    try await put(["a/3": "x"], within: 9, engine)
    #expect(system.trace.contains("open b.json"))
    system.begin()
    try await put(["a/4": "x"], within: 9, engine)
    #expect(system.trace.count { $0.hasSuffix("b.json") } == 1, "entries in memory cost one lookup")
  }

  @Test func damageFailsBatchesWithBoundsUnlessItIsInTheExemptNamespace() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    try folder.write("{", to: "b.json")
    let engine = try await folder.open()
    try await engine.put(["a/2": "x"])
    #expect(await code { try await put(["a/3": "x"], within: 9, engine) } == .damaged)
    try await put(["a/3": "x"], within: 3, exempt: "b", engine)
    #expect(await code { try await put(["a/4": "x"], within: 3, exempt: "b", engine) } == .overBounds)
    #expect(await code { try await put(["b/2": "x"], within: 9, exempt: "b", engine) } == .damaged)
    #expect(try folder.text("b.json") == "{")
  }
}
