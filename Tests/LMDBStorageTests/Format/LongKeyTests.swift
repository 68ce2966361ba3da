import SeededNumbers
import EngineAPI
import Testing

@testable import LMDBStorage

/// Keys around and beyond the size that LMDB takes.
@Suite struct LongKeyTests {
  /// Keys with common beginnings of 446 to 448 bytes and more, short ones between them.
  static let keys: [String] = {
    let base = "cities/" + String(repeating: "k", count: LMDBKey.prefixSize - 8)
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

  /// Keys that are not stored, too, and any prefix.
  @Test func aScanStartsAfterAnyKeyInBothDirections() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    for key in Self.keys { try await engine.put(key) }
    let long = Self.keys[Self.keys.count - 1]
    for after in Self.keys + ["aaa/a", "cities/!", "zzz/z", long + "x", String(long.prefix(450))] {
      for prefix in ["", "cities/", "cities/k", "movies/", "none/", String(long.prefix(448))] {
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

  /// The longest key that is stored unchanged, and the shortest one that is not.
  @Test func aLongKeyIsStoredByItsDigest() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let long = "cities/" + String(repeating: "k", count: LMDBKey.prefixSize - 6)
    let short = String(long.dropLast())
    for key in [long, short] { try await engine.put(key) }
    var digest = SHA256()
    digest.update(Array(long.utf8))
    let dump = try NativeToolTests.run("mdb_dump", "-p", "-s", "cities", store.path)
    #expect(dump.contains(" \(short)\n") && dump.contains(" \(short)\(digest.hexText)\n"))
    #expect(dump.contains("\(long)\\01\\02\\03\n"), "the header ends with the whole key")
    try await engine.close()
  }

  @Test func anEntryUnderTheDigestOfAnotherKeyIsFound() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let (key, other) = ("cities/" + String(repeating: "k", count: 600), "cities/" + String(repeating: "l", count: 600))
    let header = EntryMetadata.sample().encoded(key: other)
    try await engine.put("cities/a")
    let stored = try Array(key.utf8).withUnsafeBytes { bytes in
      try LMDBKey.withStored(bytes) { stored throws(CacheError) in String(decoding: stored, as: UTF8.self) }
    }
    try ErrorTests.store(header, under: stored, in: store)
    #expect(try await engine.check().map(\.key?.text) == [other])
    #expect(try await engine.payload(other) == nil)
    try await engine.close()
  }
}
