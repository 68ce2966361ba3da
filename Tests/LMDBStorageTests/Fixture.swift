import Foundation
import SeededNumbers
import StorageSPI

@testable import LMDBStorage

/// Stores that earlier versions of the engine made, and what is in each. `Fixtures/README.md` says how they were made.
enum Fixture: String, CaseIterable {
  /// Several namespaces: text and bytes, attributes, content types with and without a code, keys of any length.
  case mixed = "version1-mixed"
  /// Namespaces that are empty, and a list of free pages.
  case removed = "version1-removed"
  /// Nothing was ever stored.
  case empty = "version1-empty"

  typealias Entry = (key: String, payload: [UInt8], metadata: EntryMetadata)

  /// The file in the sources.
  var file: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(rawValue)/data.mdb")
  }

  /// A store whose data file is a copy of the fixture.
  func copy() throws -> TestStore {
    let store = try TestStore()
    try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: true)
    try Data(contentsOf: file).write(to: URL(fileURLWithPath: store.dataFile))
    return store
  }

  /// Everything that is in the store, ordered by key.
  var entries: [Entry] {
    switch self {
    case .mixed: Self.mixedEntries
    case .removed: Self.mixedEntries.filter { !Self.isRemoved($0.key) }
    case .empty: []
    }
  }

  /// The entries that were stored in `removed` and then removed: all of two namespaces, and some of a third.
  static func isRemoved(_ key: String) -> Bool {
    key.hasPrefix("movies/") || key.hasPrefix("posters/") || key.hasPrefix("cities/v1/page=1")
  }

  private static let mixedEntries: [Entry] = {
    var random = SeededGenerator(seed: 1)
    var entries: [Entry] = []
    for page in 0..<12 {
      let text = #"{"page": \#(page), "items": [{"name": "São Paulo \u{1F307}"}]}"#
      entries.append(
        entry(
          "cities/v1/page=\(page)", Array(text.utf8), "application/json",
          ["etag": #"W/"\#(page)""#, "last-modified": "Sat, 31 Jan 2026 12:00:00 GMT"], &random))
    }
    let tails = ["", "a", "b", "b" + String(repeating: "c", count: 300)]
    for tail in tails {
      let key = "movies/v1/query=" + String(repeating: "q", count: 486) + tail
      entries.append(entry(key, Array(key.utf8.reversed()), "text/x-own; a=\"é\"", ["": "", "é": "\0"], &random))
    }
    for size in [0, 1, 255, 4_000, 9_000] {
      let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      entries.append(entry("posters/v1/size=\(size)", bytes, "image/jpeg", [:], &random))
    }
    entries.append(entry("leases/owner", Array("process 7".utf8), "text/plain", [:], &random))
    return entries.sorted { $0.key < $1.key }
  }()

  private static func entry(
    _ key: String, _ payload: [UInt8], _ contentType: String, _ attributes: [String: String],
    _ random: inout SeededGenerator
  ) -> Entry {
    let stored = Int64(1_700_000_000_000 + random.next() % 1_000_000_000)
    let retained = random.next() % 5 == 0 ? Int64.max : stored + Int64(random.next() % 10_000_000_000)
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: stored),
      freshUntil: Timestamp(milliseconds: stored + Int64(random.next() % 10_000_000)),
      retainUntil: Timestamp(milliseconds: retained), contentType: contentType, attributes: attributes,
      checksum: random.next())
    return (key, payload, metadata)
  }
}
