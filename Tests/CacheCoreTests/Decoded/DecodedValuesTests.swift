import CacheData
import CacheDomain
import MemoryStorage
import EngineConformance
import EngineAPI
import TestStorage
import Synchronization
import Testing

@testable import CacheCore

/// When a decoded value is used again, and when not.
struct DecodedValuesTests {
  private let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  private let counted = CountedCodec()

  private func put(_ text: String, at key: String, in store: EntryStore, seconds: Int64 = 60) async throws {
    let end = clock.now.advanced(by: .seconds(seconds))
    try await store.update(try CacheKey(key), CountedCodec().codec()) { _ in (text, retainUntil: end) }
  }

  /// An engine that counts its changes, or pretends that it cannot.
  private func engine(counts: Bool = true) async throws -> FaultyEngine {
    let configuration = try EngineConfiguration(for: MemoryPlugin().declaration, clock: clock)
    let engine = FaultyEngine(over: try await MemoryPlugin().open(configuration))
    engine.faults.changeCount = { counts ? $0 : nil }
    return engine
  }

  @Test(arguments: [true, false])
  func unchangedEntriesAreDecodedOnce(counts: Bool) async throws {
    let engine = try await engine(counts: counts)
    let (store, codec) = (EntryStore(engine: engine, clock: clock), counted.codec())
    try await put("a", at: "notes/a", in: store)
    let before = engine.reads
    for _ in 0..<10 { #expect(try await store.read(try CacheKey("notes/a"), codec)?.value == "a") }
    #expect(counted.decoded == 1)
    // From the second read on, the engine must return its count.
    #expect(engine.reads - before == (counts ? 2 : 10))
  }

  @Test(arguments: [true, false])
  func aChangeElsewhereCostsAReadAndNoDecoding(counts: Bool) async throws {
    let engine = try await engine(counts: counts)
    let (store, codec) = (EntryStore(engine: engine, clock: clock), counted.codec())
    try await put("a", at: "notes/a", in: store)
    for number in 0..<5 {
      #expect(try await store.read(try CacheKey("notes/a"), codec)?.value == "a")
      try await put("\(number)", at: "notes/b", in: store)
    }
    #expect(counted.decoded == 1)
  }

  @Test(arguments: [true, false])
  func aChangeIsSeenAtOnce(counts: Bool) async throws {
    let engine = try await engine(counts: counts)
    let (store, other) = (EntryStore(engine: engine, clock: clock), EntryStore(engine: engine, clock: clock))
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    #expect(try await store.read(key, codec) == nil)
    for number in 0..<5 {
      try await put("\(number)", at: "notes/a", in: other)
      #expect(try await store.read(key, codec)?.value == "\(number)")
    }
    var batch = WriteBatch()
    batch.remove(key)
    try await engine.apply(batch)
    #expect(try await store.read(key, codec) == nil)
    #expect(store.decodedEntries?.table.withLock(\.count) == 0)
  }

  @Test(arguments: [true, false])
  func metadataThatChangesAloneIsSeen(counts: Bool) async throws {
    let store = EntryStore(engine: try await engine(counts: counts), clock: clock)
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    for seconds in [60, 90] as [Int64] {
      try await put("same", at: "notes/a", in: store, seconds: seconds)
      let found = try #require(try await store.read(key, codec))
      #expect(found.metadata.retainUntil == clock.now.advanced(by: .seconds(seconds)))
    }
  }

  /// A 304 gives an entry new times and fields, and leaves its payload.
  @Test(arguments: [true, false])
  func aRenewedEntryIsReadAgainAndDecodedOnce(counts: Bool) async throws {
    let store = EntryStore(engine: try await engine(counts: counts), clock: clock)
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    try await put("same", at: "notes/a", in: store)
    for seconds in [60, 70, 80] as [Int64] {
      let found = try #require(try await store.read(key, codec))
      #expect(found.value == "same" && found.metadata.retainUntil == clock.now.advanced(by: .seconds(seconds)))
      let later = clock.now.advanced(by: .seconds(seconds + 10))
      let isRenewed = try await store.renew(key, from: found.metadata.checksum) { present in
        var metadata = present
        metadata.retainUntil = later
        metadata.attributes["etag"] = "\(seconds)"
        return metadata
      }
      #expect(isRenewed)
    }
    #expect(try await store.read(key, codec)?.metadata.attributes == ["etag": "80"])
    #expect(counted.decoded == 1)
  }

  /// The same bytes have another meaning with another media type, or after other transforms.
  @Test func theSamePayloadOfAnotherKindIsDecodedAgain() async throws {
    let engine = try await engine()
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    let transforms = EntryTransforms(reading: { name in
      name == "reversing" ? ReversingTransform() as any PayloadTransform : nil
    })
    let store = EntryStore(engine: engine, clock: clock, transforms: transforms)
    try await put("ab", at: "notes/a", in: store)
    let plain = try #require(try await store.read(key, codec)).metadata
    let payload = Array("ab".utf8)
    let kinds: [(contentType: String, transforms: String?, value: String)] = [
      ("text/html", nil, "ab"), ("text/html", "reversing", "ba"), ("text/plain", nil, "ab"),
    ]
    for kind in kinds {
      let before = counted.decoded
      var (batch, changed) = (WriteBatch(), plain)
      changed.contentType = kind.contentType
      changed.attributes[":transforms"] = kind.transforms
      changed.setChecksums(key: key, payload: payload.span)
      batch.put(key, payload: payload, metadata: changed)
      try await engine.apply(batch)
      #expect(changed.payloadChecksum == plain.payloadChecksum)
      for _ in 0..<2 { #expect(try await store.read(key, codec)?.value == kind.value) }
      #expect(counted.decoded == before + 1)
    }
  }

  /// A renewed entry that is stored compressed or sealed is not decoded again either.
  @Test func aRenewedEntryWithTransformsIsDecodedOnce() async throws {
    let store = EntryStore(
      engine: try await engine(), clock: clock, transforms: EntryTransforms([ReversingTransform()]))
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    try await put("ab", at: "notes/a", in: store)
    for tag in ["1", "2", "3"] {
      let found = try #require(try await store.read(key, codec))
      #expect(found.value == "ab")
      let isRenewed = try await store.renew(key, from: found.metadata.checksum) { present in
        var metadata = present
        metadata.attributes["etag"] = tag
        return metadata
      }
      #expect(isRenewed)
    }
    let last = try #require(try await store.read(key, codec))
    #expect(last.value == "ab" && last.metadata.attributes == ["etag": "3"])
    #expect(counted.decoded == 1)
  }

  /// The head of the response is the renewed one.
  @Test func aRenewedResponseHasItsNewHead() async throws {
    let test = try await TestStore()
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head("v1"), for: request)
    let first = try #require(try await test.cities.response(for: request))
    test.clock.advance(by: .seconds(50))
    try await test.cities.store(first.response, head: test.head("v2"), for: request, confirming: first, token: nil)
    let second = try #require(try await test.cities.response(for: request))
    #expect(second.head.head.fields["etag"] == "v2" && second.version != first.version)
    #expect(second.head.storedAt == test.head().storedAt && second.head.retainUntil == test.head().retainUntil)
    #expect(second.response.toDomain() == .sample)
    let error = await errorCode {
      try await test.cities.store(first.response, head: test.head("v3"), for: request, confirming: first, token: nil)
    }
    #expect(error == .conflict)
  }

  @Test func aRenewedResponseIsDecodedOnce() async throws {
    let test = try await TestStore()
    let answers = EngineResponseStorage<CitiesRequestDTO, String>(store: test.store, codec: counted.codec())
    let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    try await answers.store("page", head: test.head("v1"), for: request)
    for tag in ["v2", "v3"] {
      let found = try #require(try await answers.response(for: request))
      test.clock.advance(by: .seconds(1))
      try await answers.store(found.response, head: test.head(tag), for: request, confirming: found, token: nil)
    }
    let last = try #require(try await answers.response(for: request))
    #expect(last.response == "page" && last.head.head.fields["etag"] == "v3")
    #expect(counted.decoded == 1)
  }

  @Test(arguments: [true, false])
  func expiryIsJudgedByTheClock(counts: Bool) async throws {
    let store = EntryStore(engine: try await engine(counts: counts), clock: clock)
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    try await put("a", at: "notes/a", in: store)
    #expect(try await store.read(key, codec) != nil)
    clock.advance(by: .milliseconds(59_999))
    #expect(try await store.read(key, codec) != nil)
    clock.advance(by: .milliseconds(1))
    #expect(try await store.read(key, codec) == nil)
    #expect(counted.decoded == 1)
  }

  @Test func valuesReadDuringAWriteAreReadAgain() async throws {
    let engine = try await engine()
    let (store, key, codec) = (EntryStore(engine: engine, clock: clock), try CacheKey("notes/a"), counted.codec())
    try await put("old", at: "notes/a", in: store)
    let metadata = try #require(try await store.read(key, codec)).metadata
    var (batch, changed) = (WriteBatch(), metadata)
    let payload = Array("new".utf8)
    changed.setChecksums(key: key, payload: payload.span)
    batch.put(key, payload: payload, metadata: changed)
    try await put("x", at: "notes/b", in: store)
    let next = engine.reads + 1
    engine.faults.after = { [batch] call, base throws(CacheError) in
      if case .read = call, engine.reads == next { try await base.apply(batch) }
    }
    #expect(try await store.read(key, codec)?.value == "old")
    #expect(try await store.read(key, codec)?.value == "new")
  }

  @Test func aFailureIsAFailure() async throws {
    let (engine, other) = (try await engine(counts: false), try await engine())
    for engine in [engine, other] {
      let (store, key, codec) = (EntryStore(engine: engine, clock: clock), try CacheKey("notes/a"), counted.codec())
      try await put("a", at: "notes/a", in: store)
      #expect(try await store.read(key, codec) != nil)
      try await put("b", at: "notes/b", in: store)
      engine.breakDown(CacheError(.ioFailed, "the disk is gone"))
      let error = await #expect(throws: CacheError.self) { _ = try await store.read(key, codec) }
      #expect(error?.code.rawValue == "ioFailed")
    }
    let closed = try await self.engine()
    let (store, key, codec) = (EntryStore(engine: closed, clock: clock), try CacheKey("notes/a"), counted.codec())
    try await closed.close()
    let error = await #expect(throws: CacheError.self) { _ = try await store.read(key, codec) }
    #expect(error?.code.rawValue == "closed")
  }

  @Test func aClosedStoreServesNothingFromMemory() async throws {
    let store = EntryStore(engine: try await engine(), clock: clock)
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    try await put("a", at: "notes/a", in: store)
    #expect(try await store.read(key, codec) != nil)
    try await store.engine.close()
    await #expect(throws: CacheError.self) { _ = try await store.read(key, codec) }
  }

  @Test func onlySmallEntriesWithoutTransformsAreReadAtOnce() async throws {
    let engine = try await engine()
    let (memory, limit) = (engine.base, EntryStore.smallPayload)
    let plain = EntryStore(engine: memory, clock: clock)
    let changing = EntryStore(engine: memory, clock: clock, transforms: EntryTransforms([ReversingTransform()]))
    let kinds: [(key: String, bytes: Int, written: EntryStore, read: EntryStore, isAtOnce: Bool)] = [
      ("small", 1, plain, plain, true), ("limit", limit, plain, plain, true), ("large", limit + 1, plain, plain, false),
      ("changed", 1, changing, changing, false), ("plain", 1, plain, changing, true),
      ("waiting", 1, plain, EntryStore(engine: engine, clock: clock), false),
    ]
    for kind in kinds {
      let (key, codec, before) = (try CacheKey("notes/\(kind.key)"), counted.codec(), counted.decoded)
      let text = String(repeating: "a", count: kind.bytes)
      try await put(text, at: key.text, in: kind.written)
      #expect(try kind.read.decodedNow(key, codec)??.value == (kind.isAtOnce ? text : nil), "\(kind.key)")
      // A change elsewhere.
      try await put("b", at: "notes/other", in: plain)
      #expect(try kind.read.decodedNow(key, codec)??.value == (kind.isAtOnce ? text : nil), "\(kind.key)")
      #expect(counted.decoded - before == (kind.isAtOnce ? 1 : 0))
      let found = try kind.read.decodedNow(key, codec)
      #expect((found == nil) == !kind.isAtOnce, "\(kind.key): it says whether it can tell")
    }
    clock.advance(by: .seconds(60))
    for key in ["small", "none"] {
      let found = try plain.decodedNow(try CacheKey("notes/\(key)"), counted.codec())
      let isKnownToBeAbsent = if case .some(.none) = found { true } else { false }
      #expect(isKnownToBeAbsent, "\(key)")
    }
    try await memory.close()
    let error = #expect(throws: CacheError.self) { _ = try plain.decodedNow(try CacheKey("notes/a"), counted.codec()) }
    #expect(error?.code == .closed)
  }

  @Test func codecsDoNotShareDecodedValues() async throws {
    let store = EntryStore(engine: try await engine(), clock: clock)
    let (key, other) = (try CacheKey("notes/a"), CountedCodec("other "))
    try await put("a", at: "notes/a", in: store)
    let (first, second) = (counted.codec(), other.codec())
    let lengths = PayloadCodec<Int>(
      "test", encode: { ([UInt8](repeating: 0, count: $0), "") }, decode: { bytes, _, _ in bytes.count })
    for _ in 0..<3 {
      #expect(try await store.read(key, first)?.value == "a")
      #expect(try await store.read(key, second)?.value == "other a")
      #expect(try await store.read(key, lengths)?.value == 1)
    }
  }

  @Test func nothingIsKeptIfNothingIsAllowed() async throws {
    let store = EntryStore(engine: try await engine(), clock: clock, decoded: .none)
    let (key, codec) = (try CacheKey("notes/a"), counted.codec())
    try await put("a", at: "notes/a", in: store)
    for _ in 0..<3 { #expect(try await store.read(key, codec)?.value == "a") }
    #expect(counted.decoded == 3)
  }

  @Test func usesAndHitsAreCountedAllTheSame() async throws {
    let test = CitiesRequestDTO(origin: "o", query: CitiesQuery())
    let store = EntryStore(engine: try await engine(), clock: clock)
    let (cities, now) = (EngineCityResponseStorage(store: store), clock.now.sinceEpoch)
    let head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["etag": "\"1\""]), storedAt: now, freshUntil: now + .seconds(1),
      retainUntil: now + .seconds(9))
    try await cities.store(CitiesPageDTO(.sample), head: head, for: test)
    for _ in 0..<4 {
      clock.advance(by: .seconds(1))
      let stored = try #require(try await cities.response(for: test))
      #expect(stored.response.toDomain() == .sample && stored.head == head)
    }
    #expect(store.uses.counts.hits == 4)
    let uses = try store.uses.histories(of: [try CacheKey(for: test)])
    #expect(uses == [AccessHistory(lastUsedAt: clock.now, count: 4)])
  }
}

/// Stores payloads backwards.
private struct ReversingTransform: PayloadTransform {
  var name: String { "reversing" }

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? { (reversed(bytes), "") }

  func decode(_ bytes: Span<UInt8>, parameter: String, _ context: TransformContext) throws(CacheError) -> [UInt8] {
    reversed(bytes)
  }

  private func reversed(_ bytes: Span<UInt8>) -> [UInt8] { bytes.withUnsafeBufferPointer { $0.reversed() } }
}
