import FetchVocabulary
import CacheCore
import EngineConformance
import EngineAPI
import TestStorage
import Testing

/// A store filled from a seed, and the same entries as plain values to compare with.
struct GeneratedStore {
  static let count = 2_600

  let test: TestStore
  let seed: UInt64
  /// The entries, sorted by key.
  let model: [ScannedEntry]

  var administration: StoreAdministration { StoreAdministration(test.store) }

  init(seed: UInt64, count: Int = count) async throws {
    var generator = SeededGenerator(seed: seed)
    var (batch, entries) = (WriteBatch(), [CacheKey: ScannedEntry]())
    let test = try await TestStore()
    while entries.count < count {
      let key = try Self.key(&generator)
      let metadata = Self.metadata(now: test.clock.now, &generator)
      let payload = [UInt8](repeating: 7, count: Int.random(in: 0...40, using: &generator))
      entries[key] = ScannedEntry(key: key, metadata: metadata, payloadBytes: payload.count)
      batch.put(key, payload: payload, metadata: metadata)
    }
    try await test.engine.apply(batch)
    self.test = test
    self.seed = seed
    model = entries.values.sorted { $0.key < $1.key }
  }

  /// Keys in five namespaces. Two of these begin alike, and one is almost empty.
  private static func key(_ generator: inout SeededGenerator) throws -> CacheKey {
    let namespaces = ["cities", "movies", "movies", "movies2", "posters"]
    let isRare = Int.random(in: 0..<200, using: &generator) == 0
    let namespace = isRare ? "queries" : namespaces[Int.random(in: 0..<namespaces.count, using: &generator)]
    let version = ["v1", "v10", "v2"][Int.random(in: 0..<3, using: &generator)]
    return try CacheKey("\(namespace)/\(version)/page=\(Int.random(in: 0..<100_000, using: &generator))")
  }

  /// Metadata in any state, including the boundaries.
  private static func metadata(now: Timestamp, _ generator: inout SeededGenerator) -> EntryMetadata {
    let age = Int.random(in: 0...20, using: &generator)
    let fresh = Int.random(in: 0...20, using: &generator)
    let retained = fresh + Int.random(in: 0...10, using: &generator)
    let storedAt = now.advanced(by: .seconds(-age))
    return EntryMetadata(
      storedAt: storedAt, freshUntil: storedAt.advanced(by: .seconds(fresh)),
      retainUntil: storedAt.advanced(by: .seconds(retained)), contentType: "application/json",
      checksum: generator.next())
  }

  /// The entries that a selection should select, found without the tested code.
  func expected(_ selection: EntrySelection) -> [ScannedEntry] {
    model.filter { entry in
      if let namespace = selection.namespace, entry.key.namespace != namespace { return false }
      if let prefix = selection.prefix, !entry.key.text.hasPrefix(prefix) { return false }
      if let pattern = selection.pattern, !Self.matches(pattern.text, entry.key.text) { return false }
      if let state = selection.state, state != entry.metadata.state(at: test.clock.now) { return false }
      let age = test.clock.now.duration(since: entry.metadata.storedAt)
      return selection.minimumAge.map { age >= $0 } ?? true
    }
  }

  /// Whether `text` matches `pattern`, found by trying every text in place of a star.
  static func matches(_ pattern: some StringProtocol, _ text: some StringProtocol) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first != "*" { return text.first == first && matches(pattern.dropFirst(), text.dropFirst()) }
    return matches(pattern.dropFirst(), text) || (!text.isEmpty && matches(pattern, text.dropFirst()))
  }

  /// Selections by pattern, some with further conditions.
  static let patterns: [EntrySelection] = [
    "*", "", "movies*", "*page=4*", "*/v1/*7", "m*v*1*1", "movies/v1/page=4", "*/", "?ovies*", "movies*/v2*", "**9**",
  ].flatMap { pattern in
    [
      EntrySelection(pattern: GlobPattern(pattern)),
      EntrySelection(namespace: "movies", pattern: GlobPattern(pattern), state: .stale),
      EntrySelection(prefix: "movies/v1/page=4", pattern: GlobPattern(pattern)),
    ]
  }

  /// Every combination of conditions, including ones that exclude each other.
  static let selections: [EntrySelection] = [nil, "movies", "queries", "none"].flatMap { namespace in
    [nil, "", "mov", "movies/", "movies/v1/page=4", "queries/v2", "z", "é"].flatMap { prefix in
      [nil, EntryState.fresh, .stale, .expired].flatMap { state in
        [nil, Duration.zero, .seconds(10), .seconds(21)].map { age in
          EntrySelection(namespace: namespace, prefix: prefix, state: state, minimumAge: age)
        }
      }
    }
  }
}
