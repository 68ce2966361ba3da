import CacheData
import CacheDomain
import EngineAPI
import EngineConformance
import FetchVocabulary
import MemoryStorage
import TestStorage
import Testing
@testable import CacheCore

/// A store over the memory engine at second 1,000, fully controlled by the test.
struct TestStore {
  let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  let engine: FaultyEngine
  let store: EntryStore

  init() async throws {
    let plugin = MemoryPlugin()
    engine = FaultyEngine(over: try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock)))
    store = EntryStore(engine: engine, clock: clock)
  }

  var cities: EngineCityResponseStorage { EngineCityResponseStorage(store: store) }
  var posters: EnginePosterResponseStorage { EnginePosterResponseStorage(store: store) }

  /// The head of a response stored now, fresh for a minute and kept for five.
  func head(_ tag: String? = nil, fresh: Duration = .seconds(60), kept: Duration = .seconds(300)) -> StoredHead {
    let now = clock.now.sinceEpoch
    return StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: tag.map { ["ETag": $0] } ?? [:]), storedAt: now,
      freshUntil: now + fresh, retainUntil: now + kept)
  }

  /// The key of the only entry in the store.
  func onlyKey() async throws -> CacheKey? {
    let entries = try await engine.scan(ScanRequest(limit: 2)).entries
    return entries.count == 1 ? entries[0].key : nil
  }
}

extension CitiesPage {
  static let sample = CitiesPage(
    page: 0, totalPages: 2, totalItems: 26,
    cities: [City(id: "KY/LOUISVILLE", name: "Louisville", subName: "KY", revenue: 12, organizationCount: 3)])
}

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

/// An engine that lists keys in the order of their hashes, with positions that are not keys, as a server does.
final class UnorderedEngine: WrappingEngine {
  let base: any StorageEngine

  init(over base: any StorageEngine) { self.base = base }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    if request.isDescending { throw CacheError(.unsupported, "there is no order") }
    var start: UInt64 = 0
    if let position = request.position {
      guard position.hasPrefix("#"), let number = UInt64(position.dropFirst()) else {
        throw CacheError(.invalidRequest, "'\(position)' is no position")
      }
      start = number
    }
    let all = ScanRequest(prefix: request.prefix, limit: 1_000_000, includesPayloads: request.includesPayloads)
    var entries = try await base.scan(all).entries.map { (digest: AccessRecord.digest(of: $0.key), entry: $0) }
    entries = entries.filter { $0.digest > start }.sorted { $0.digest < $1.digest }
    let page = entries.prefix(request.limit)
    return ScanPage(page.map(\.entry), next: page.count < entries.count ? page.last.map { "#\($0.digest)" } : nil)
  }
}

/// Entries of every shape, generated from a seed, with valid checksums.
enum GeneratedEntries {
  /// Payloads that are easily confused: empty, every byte, text with escapes, text that is not normalized, half a
  /// character, zeros.
  static let payloads: [[UInt8]] = [
    [], Array(0...255), Array("{\"a\": \"b\\n\"}\n\r\t\u{7F}\u{0}\u{2028}\u{85}é e\u{301} 🦜".utf8), [0xF0, 0x9F],
    [0, 0], Array(repeating: 0xFF, count: 3_000),
  ]

  static func entries(seed: UInt64, count: Int, at now: Timestamp) throws -> [ExportedEntry] {
    var generator = SeededGenerator(seed: seed)
    return try (0..<count).map { index in
      let payload = index < payloads.count ? payloads[index] : bytes(&generator)
      return try entry("\(["cities", "movies", "posters"][index % 3])/v1/n=\(index)", payload, at: now, &generator)
    }
  }

  static func entry(
    _ key: String, _ payload: [UInt8], at now: Timestamp, _ generator: inout SeededGenerator
  ) throws -> ExportedEntry {
    let times = [
      Timestamp(milliseconds: 0), now, now.advanced(by: .milliseconds(-1)), now.advanced(by: .seconds(86_400 * 365)),
      .distantFuture,
    ]
    let attributes: [[String: String]] = [
      [:], ["etag": "\"é\""], ["": "", "\u{0}": "\u{1F}\"\\/"], ["e\u{301}": "\r\n", "name": "🦜"],
    ]
    let metadata = EntryMetadata(
      storedAt: times[Int.random(in: 0..<4, using: &generator)],
      freshUntil: times[Int.random(in: 0..<5, using: &generator)],
      retainUntil: times[Int.random(in: 3..<5, using: &generator)],
      contentType: ["application/json", "", "text/plain; charset=\"utf-8\""][Int.random(in: 0..<3, using: &generator)],
      attributes: attributes[Int.random(in: 0..<4, using: &generator)])
    return try sealed(key, payload, metadata)
  }

  /// The entry with a valid checksum.
  static func sealed(
    _ key: String, _ payload: [UInt8], _ metadata: EntryMetadata, use: AccessHistory? = nil
  ) throws -> ExportedEntry {
    let key = try CacheKey(key)
    var metadata = metadata
    metadata.setChecksums(key: key, payload: payload.span)
    return ExportedEntry(key: key, metadata: metadata, payload: payload, history: use)
  }

  private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}

extension [ExportedEntry] {
  /// The lines of an export of these entries.
  var lines: [UInt8] { reduce(into: []) { $1.encode(to: &$0) } }
}

extension StorageEngine {
  /// Stores entries unchanged.
  func store(_ entries: [ExportedEntry]) async throws {
    var batch = WriteBatch()
    for entry in entries { batch.put(entry.key, payload: entry.payload, metadata: entry.metadata) }
    try await apply(batch)
  }

  /// All entries, sorted by key.
  func allEntries() async throws -> [ExportedEntry] {
    var request = ScanRequest(limit: 100_000, includesPayloads: true)
    var entries: [ExportedEntry] = []
    repeat {
      let page = try await scan(request)
      entries += page.entries.map { ExportedEntry(key: $0.key, metadata: $0.metadata, payload: $0.payload ?? []) }
      request.position = page.next
    } while request.position != nil
    return entries
  }
}
