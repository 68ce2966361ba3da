import StorageSPI
import Testing

/// Entries are listed in the order of their keys, or backwards.
@Suite struct ScanTests {
  @Test(
    arguments: [
      (KeyRange(), 9, ["a/1", "b/1", "b/10", "b/2", "c/1"]),
      (KeyRange(isDescending: true), 9, ["c/1", "b/2", "b/10", "b/1", "a/1"]),
      (KeyRange(isDescending: true), 2, ["c/1", "b/2"]),
      (KeyRange(prefix: "b/", isDescending: true), 9, ["b/2", "b/10", "b/1"]),
      (KeyRange(prefix: "b/1", isDescending: true), 9, ["b/10", "b/1"]),
      (KeyRange(after: try? CacheKey("b/10"), isDescending: true), 9, ["b/1", "a/1"]),
      (KeyRange(prefix: "b/", after: try? CacheKey("b/2"), isDescending: true), 9, ["b/10", "b/1"]),
      (KeyRange(prefix: "b/", after: try? CacheKey("c/1"), isDescending: true), 1, ["b/2"]),
      (KeyRange(prefix: "b/", after: try? CacheKey("a/1"), isDescending: true), 9, []),
      (KeyRange(prefix: "b/", after: try? CacheKey("b/1")), 9, ["b/10", "b/2"]),
    ] as [(KeyRange, Int, [String])])
  func aScanRunsInEitherDirection(range: KeyRange, limit: Int, expected: [String]) async throws {
    let folder = try TestFolder()
    let engine = try await folder.open()
    for key in ["b/2", "a/1", "c/1", "b/10", "b/1"] { try await engine.put(key, [1]) }
    #expect(try await engine.scan(range, limit: limit).map(\.key.text) == expected)
    try await engine.close()
    // Without a write before it the scan goes through a reading connection.
    let second = try await folder.open()
    #expect(try await second.scan(range, limit: limit).map(\.key.text) == expected)
    try await second.close()
  }
}
