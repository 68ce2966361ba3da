import CacheData
import CacheDomain
import EngineAPI
import EngineConformance
import TestStorage
import Testing
@testable import CacheCore

struct ChecksumTests {
  private static let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())

  /// A store with one entry, which is read once to show that it is intact.
  private func filled() async throws -> (TestStore, CacheKey) {
    let test = try await TestStore()
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head("v1"), for: Self.request)
    #expect(try await test.cities.response(for: Self.request) != nil)
    return (test, try #require(try await test.onlyKey()))
  }

  /// The error codes of all ways to read the entry.
  private func codes(_ test: TestStore, _ key: CacheKey) async -> [CacheError.Code?] {
    let administration = StoreAdministration(test.store)
    return await [
      errorCode { _ = try await test.cities.response(for: Self.request) },
      errorCode { _ = try await administration.entry(key) },
    ]
  }

  @Test func everyFlippedBitOfThePayloadIsDetected() async throws {
    let (test, key) = try await filled()
    let size = try #require(try await test.engine.scan(ScanRequest()).entries.first).payloadBytes
    #expect(size > 100)
    for bit in 0..<size * 8 {
      test.engine.alter { entry in
        var entry = entry
        entry.payload[bit / 8] ^= 1 << UInt8(bit % 8)
        return entry
      }
      #expect(await codes(test, key) == [.damaged, .damaged], "bit \(bit)")
    }
  }

  @Test func everyFlippedBitOfTheChecksumIsDetected() async throws {
    let (test, key) = try await filled()
    for bit in UInt64(0)..<64 {
      test.engine.alter(Self.changing { $0.checksum ^= 1 << bit })
      #expect(await codes(test, key) == [.damaged, .damaged], "bit \(bit)")
      test.engine.alter(Self.changing { $0.payloadChecksum ^= 1 << bit })
      #expect(await codes(test, key) == [.damaged, .damaged], "bit \(bit) of the payload's")
    }
  }

  @Test func everyFlippedBitOfTheTimesIsDetected() async throws {
    let (test, key) = try await filled()
    let fields: [any WritableKeyPath<EntryMetadata, Timestamp> & Sendable] = [
      \.storedAt, \.freshUntil, \.retainUntil,
    ]
    // The range of a timestamp has 47 bits and a fraction; the bits above are always zero.
    for (name, field) in fields.enumerated() {
      for bit in 0..<47 {
        test.engine.alter(
          Self.changing { metadata in
            metadata[keyPath: field] = Timestamp(milliseconds: metadata[keyPath: field].milliseconds ^ (1 << bit))
          })
        #expect(await codes(test, key) == [.damaged, .damaged], "bit \(bit) of field \(name)")
      }
    }
  }

  static let changes: [(String, @Sendable (inout EntryMetadata) -> Void)] = [
    ("another content type", { $0.contentType = "application/jsom" }), ("no content type", { $0.contentType = "" }),
    ("another validator", { $0.attributes["etag"] = "v2" }), ("another name", { $0.attributes = ["etaf": "v1"] }),
    ("no attributes", { $0.attributes = [:] }), ("one attribute more", { $0.attributes["a"] = "" }),
    ("two times exchanged", { ($0.storedAt, $0.freshUntil) = ($0.freshUntil, $0.storedAt) }),
    ("letters moved from one text to another", { $0.attributes = ["etagv": "1"] }),
    ("letters moved into the content type", { ($0.contentType, $0.attributes) = ("application/jsonetag", ["v1": ""]) }),
    (
      "all zero",
      {
        let zero = Timestamp(milliseconds: 0)
        $0 = EntryMetadata(storedAt: zero, freshUntil: zero, retainUntil: zero, contentType: "")
      }
    ),
  ]

  @Test(arguments: changes.indices) func everyOtherChangeOfTheMetadataIsDetected(index: Int) async throws {
    let (test, key) = try await filled()
    let (name, change) = Self.changes[index]
    test.engine.alter(Self.changing(change))
    #expect(await codes(test, key) == [.damaged, .damaged], "\(name)")
  }

  @Test(arguments: [0, 1, 10]) func aTruncatedOrExtendedPayloadIsDetected(count: Int) async throws {
    let (test, key) = try await filled()
    test.engine.alter { entry in (entry.key, Array(entry.payload.prefix(count)), entry.metadata) }
    #expect(await codes(test, key) == [.damaged, .damaged])
    test.engine.alter { entry in (entry.key, entry.payload + [UInt8](repeating: 0, count: count + 1), entry.metadata) }
    #expect(await codes(test, key) == [.damaged, .damaged])
  }

  @Test func theEntryOfAnotherKeyIsDetected() async throws {
    let (test, key) = try await filled()
    var batch = WriteBatch()
    let copy = try CacheKey(key.text.replacing("page=0", with: "page=1"))
    let entry = try #require(
      try await test.engine.read(key) { bytes, metadata in
        EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      })
    batch.put(copy, payload: entry.payload, metadata: entry.metadata)
    try await test.engine.apply(batch)
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery(page: 1))
    #expect(await errorCode { _ = try await test.cities.response(for: request) } == .damaged)
    #expect(try await test.cities.response(for: Self.request) != nil)
  }

  @Test func theErrorNamesTheEntry() async throws {
    let (test, key) = try await filled()
    test.engine.alter(Self.changing { $0.checksum ^= 1 })
    let error = await #expect(throws: CacheError.self) { _ = try await test.cities.response(for: Self.request) }
    #expect(error?.message.contains(key.text) == true)
    #expect(error?.key == key.text)
    #expect(error?.code == .damaged)
  }

  private static func changing(
    _ change: @escaping @Sendable (inout EntryMetadata) -> Void
  ) -> @Sendable (FaultyEngine.Entry) -> FaultyEngine.Entry {
    { entry in
      var entry = entry
      change(&entry.metadata)
      return entry
    }
  }
}

/// A store that cannot be opened.
struct AwayEngineTests {
  private static let reason = CacheError(.unreachable, "the server is away", hint: "start it")

  private let engine = AwaitedEngine(after: reason, clock: ManualClock(Timestamp(milliseconds: 0))) {
    _ throws(CacheError) in throw AwayEngineTests.reason
  }

  private var store: EntryStore { EntryStore(engine: engine, clock: ManualClock(Timestamp(milliseconds: 0))) }

  @Test func everyCallOfTheEngineFailsWithTheReason() async throws {
    let key = try CacheKey("cities/v1")
    let calls: [@Sendable (AwaitedEngine) async throws -> Void] = [
      { _ = try await $0.read(key) { bytes, _ in bytes.count } }, { try await $0.apply(WriteBatch()) },
      { _ = try await $0.scan(ScanRequest()) }, { _ = try await $0.count() }, { _ = try await $0.check() },
      { try await $0.compact() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError.self) { try await call(engine) }
      #expect(error?.description == Self.reason.description)
    }
    try await engine.close()
    try await engine.close()
  }

  @Test func everythingOverItFailsWithTheSameCodeMessageAndHint() async throws {
    let cities = EngineCityResponseStorage(store: store)
    let queries = DefaultMovieQueriesRepository(store: store, maximumCount: 10)
    let administration = StoreAdministration(store)
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    let (key, query) = (try CacheKey("cities/v1"), try #require(MovieQuery("a")))
    let head = StoredHead(head: HTTP.ResponseHead(status: 200), storedAt: .zero, freshUntil: .zero, retainUntil: .zero)
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await cities.response(for: request) },
      { try await cities.store(CitiesPageDTO(.sample), head: head, for: request) },
      { _ = try await queries.recentQueries() }, { try await queries.save(query) },
      { _ = try await administration.entry(key) },
      { _ = try await administration.list(EntrySelection(), after: nil, limit: 1) },
      { _ = try await administration.change(.remove, EntrySelection(), dryRun: true) },
      { _ = try await administration.change(.remove, keys: [key], dryRun: true) },
      { _ = try await administration.statistics() },
    ]
    for call in calls {
      let error = await #expect(throws: CacheError.self) { try await call() }
      #expect(error?.code.rawValue == "unreachable")
      #expect(error?.message == Self.reason.message)
      #expect(error?.hint == Self.reason.hint)
    }
    #expect(store.uses.counts == OperationCounts())
    try await store.close()
  }
}

/// The header of a response for a URL is restored unchanged, whatever its values begin with.
@Suite struct HTTPHeaderTests {
  @Test(arguments: [
    "text", "", ":", "a: b", "\u{301}tude", "\u{FE0F}", "\u{200D}x", "\u{20DD} ring", "\u{94D}", "e\u{301}", "\u{85}",
    "\u{2028}", "\u{1F1E9}\u{1F1EA}",
  ])
  func valuesComeBack(value: String) async throws {
    let test = try await TestStore()
    let storage = URLResponses(store: test.store)
    var head = test.head()
    head.head.fields = HTTP.Fields([
      HTTP.Fields.Field("X-First", value), HTTP.Fields.Field("x-second", value), HTTP.Fields.Field("X-First", "last"),
    ])
    let key = try await storage.store([1, 2], head: head, for: "https://example.com/")
    let found = try #require(try await storage.response(under: key))
    #expect(found.head == head)
    // Equal texts may still consist of different bytes.
    #expect(
      found.head.head.fields.lines.map { Array($0.value.utf8) } == head.head.fields.lines.map { Array($0.value.utf8) })
  }
}
