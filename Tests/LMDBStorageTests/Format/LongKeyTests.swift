import SeededNumbers
import StorageSPI
import Testing

@testable import LMDBStorage

/// Keys around and beyond the size that LMDB takes.
@Suite struct LongKeyTests {
  /// Keys with common beginnings of 501 to 503 bytes and more, short ones between them.
  static let keys: [String] = {
    let base = "cities/" + String(repeating: "k", count: 494)  // 501 bytes
    var keys = ["cities/a", "cities/z", "movies/b", base]
    for middle in ["!", "a", "k", "~"] {
      keys.append(base + middle)
      for tail in [
        "!", "0", "a", "ab", "b", "~", String(repeating: "q", count: 9), String(repeating: "r", count: 9_000),
      ] {
        keys.append(base + middle + tail)
      }
    }
    return keys
  }()

  static let hashes: [(name: String, hash: @Sendable (UnsafeRawBufferPointer) -> UInt64)] = [
    ("FNV-1a", { FNV1a.hash($0) }), ("always the same", { _ in 42 }), ("two values", { UInt64($0.count % 2) }),
  ]

  @Test(arguments: hashes.indices) func scansInByteOrderAndReadsEach(hash: Int) async throws {
    let store = try TestStore()
    let engine = try store.open(hash: Self.hashes[hash].hash)
    for key in Self.keys.shuffled() { try await engine.put(key, Array(key.utf8)) }
    for step in [1, 2, 3, 7, 1_000] {
      for descending in [false, true] {
        let keys = try await engine.keys(step: step, descending: descending)
        #expect(keys == Self.keys.sorted(), "\(Self.hashes[hash].name), step \(step), descending \(descending)")
      }
    }
    for key in Self.keys { #expect(try await engine.payload(key) == Array(key.utf8)) }
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  @Test(arguments: hashes.indices) func prefixesCutAnywhere(hash: Int) async throws {
    let store = try TestStore()
    let engine = try store.open(hash: Self.hashes[hash].hash)
    for key in Self.keys { try await engine.put(key) }
    let long = Self.keys[Self.keys.count - 1]
    for prefix in ["", "c", "cities", "cities/", "cities/k", "movies/", "nothing/"]
      + [500, 501, 502, 503, 504, 510, 511, 512, 600].map({ String(long.prefix($0)) })
    {
      let expected = Self.keys.filter { $0.hasPrefix(prefix) }.sorted()
      for descending in [false, true] {
        let keys = try await engine.keys(prefix: prefix, step: 3, descending: descending)
        #expect(keys == expected, "prefix of \(prefix.utf8.count) bytes, descending \(descending)")
      }
    }
    try await engine.close()
  }

  /// Keys that are not stored, too, and any prefix.
  @Test func aScanStartsAfterAnyKeyInBothDirections() async throws {
    let store = try TestStore()
    let engine = try store.open(hash: Self.hashes[0].hash)
    for key in Self.keys { try await engine.put(key) }
    let long = Self.keys[Self.keys.count - 1]
    for after in Self.keys + ["aaa/a", "cities/!", "zzz/z", long + "x", String(long.prefix(505))] {
      for prefix in ["", "cities/", "cities/k", "movies/", "none/", String(long.prefix(503))] {
        for isDescending in [false, true] {
          let request = ScanRequest(prefix: prefix, after: after, limit: 7, isDescending: isDescending)
          let expected = try Self.keys.map { try CacheKey($0) }.filter(request.contains).sorted {
            ($0 < $1) != isDescending
          }
          let page = try await engine.scan(request)
          #expect(
            page.entries.map(\.key) == Array(expected.prefix(7)),
            "\(after.prefix(20)), \(prefix.prefix(20)), \(isDescending)")
          #expect(page.next == (expected.count > 7 ? expected[6].text : nil))
        }
      }
    }
    try await engine.close()
  }

  @Test(arguments: hashes.indices) func removingOneLeavesTheOthers(hash: Int) async throws {
    let store = try TestStore()
    let engine = try store.open(hash: Self.hashes[hash].hash)
    for key in Self.keys { try await engine.put(key) }
    var left = Self.keys.sorted()
    var random = SeededGenerator(seed: 5)
    while let index = left.indices.randomElement(using: &random) {
      let key = left.remove(at: index)
      try await engine.remove(key)
      #expect(try await engine.payload(key) == nil)
      #expect(try await engine.keys() == left)
      if let other = left.first {
        try await engine.put(other, [9])
        #expect(try await engine.payload(other) == [9])
      }
    }
    try await engine.close()
  }

  @Test func after256CollisionsTheNextIsRefused() async throws {
    let store = try TestStore()
    let engine = try store.open { _ in 1 }
    let base = "cities/" + String(repeating: "k", count: 600)
    var batch = WriteBatch()
    for index in 0..<256 { batch.put(try CacheKey("\(base)\(index)"), payload: [], metadata: .sample()) }
    try await engine.apply(batch)
    #expect(await code { try await engine.put(base + "x") } == .tooLarge)
    #expect(try await engine.payload(base + "x") == nil, "absent is nil")
    try await engine.remove(base + "x")
    try await engine.put(base + "255", [1])
    #expect(try await engine.count().entries == 256)
    try await engine.close()
  }
}
