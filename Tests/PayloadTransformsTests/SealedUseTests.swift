import TestStorage
@testable import CacheCore
import FetchVocabulary
import HTTPCaching
import PayloadTransforms
import EngineConformance
import EngineAPI
import Testing

/// Sealing in use: renewal, change of keys, and a store that is being moved over.
struct SealedUseTests {
  private static let payload = Array(String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40).utf8)
  private static let (old, new) = (Transforms.secret, Transforms.otherSecret)

  /// A confirmed entry gets new times and fields. Its payload stays as it was sealed.
  @Test(arguments: TestedEngine.all, [["sealed"], ["zstd", "sealed"], ["sealed", "reversed"]])
  func aConfirmationRenewsTheMetadataAlone(engine: TestedEngine, chain: [String]) async throws {
    let (scratch, key) = (try await Scratch(engine), try CacheKey("notes/a"))
    let transforms = try Transforms.named(chain, required: true)
    let store = scratch.store(transforms)
    try await store.write(key, payload: Self.payload, metadata: scratch.metadata(["etag": "1", "note": "a"]))
    let first = try await scratch.stored(key)
    scratch.clock.advance(by: .seconds(100))
    let metadata = scratch.metadata(["etag": "1", "note": "b"])
    #expect(try await store.renew(key, from: first.metadata.checksum) { _ in metadata })
    let second = try await scratch.stored(key)
    #expect(second.payload == first.payload)
    #expect(second.metadata.hidden != first.metadata.hidden)
    let found = try #require(try await scratch.store(transforms).payload(key))
    #expect(found.payload == Self.payload && found.metadata.attributes == metadata.attributes)
    #expect(found.metadata.freshUntil == metadata.freshUntil && found.metadata.storedAt == metadata.storedAt)
    #expect(try await scratch.administration(transforms).verify().issues.isEmpty)
    // The metadata of one version and the payload of another are not one entry, unless that is the same payload.
    try await scratch.replace(key, second.payload, first.metadata, isIntact: true)
    #expect(try await scratch.store(transforms).payload(key)?.metadata.attributes["note"] == "a")
  }

  enum Change: CaseIterable { case key, chain, forgery }

  /// An entry that would be sealed in another way now is not renewed, but written completely.
  @Test(arguments: Change.allCases) func anythingElseIsSealedAsAWhole(change: Change) async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    try await scratch.store(try Transforms.named(["sealed"], secrets: [Self.old])).write(
      key, payload: Self.payload, metadata: scratch.metadata())
    var first = try await scratch.stored(key)
    if change == .forgery {
      first.metadata.contentType = "text/html"
      try await scratch.replace(key, first.payload, first.metadata, isIntact: true)
      first = try await scratch.stored(key)
    }
    let chain = change == .chain ? ["reversed"] : ["sealed"]
    let transforms = try Transforms.named(
      chain, secrets: change == .key ? [Self.new, Self.old] : [Self.old], required: change != .chain)
    let (store, metadata, version) = (scratch.store(transforms), scratch.metadata(), first.metadata.checksum)
    #expect(try await !store.renew(key, from: version) { _ in metadata })
    #expect(try await scratch.stored(key).metadata == first.metadata)
    try await store.write(key, payload: Self.payload, metadata: metadata, expecting: .checksum(version))
    #expect(try await scratch.stored(key).payload != first.payload)
    #expect(try await scratch.store(transforms).payload(key)?.payload == Self.payload)
    let conflict = await errorCode {
      _ = try await store.renew(key, from: version) { _ in metadata }
    }
    #expect(conflict == .conflict)
  }

  @Test(arguments: TestedEngine.all) func aKeyIsReplacedWhileItsEntriesStayReadable(engine: TestedEngine) async throws {
    let scratch = try await Scratch(engine)
    let (before, after) = (try CacheKey("notes/a"), try CacheKey("notes/b"))
    func transforms(_ secrets: [[UInt8]]) throws -> EntryTransforms {
      try Transforms.named(["zstd", "sealed"], secrets: secrets, required: true)
    }
    try await scratch.store(try transforms([Self.old])).write(
      before, payload: Self.payload, metadata: scratch.metadata(["note": "private"]))
    let both = scratch.store(try transforms([Self.new, Self.old]))
    try await both.write(after, payload: Self.payload, metadata: scratch.metadata(["note": "private"]))
    for key in [before, after] {
      #expect(try await both.payload(key)?.payload == Self.payload)
      #expect(try await both.payload(key)?.metadata.attributes == ["note": "private"])
    }
    // A process that was not restarted yet has the keys the other way round.
    #expect(try await scratch.store(try transforms([Self.old, Self.new])).payload(after)?.payload == Self.payload)
    let later = scratch.store(try transforms([Self.new]))
    #expect(try await later.payload(after)?.payload == Self.payload)
    let error = await #expect(throws: CacheError.self) { try await later.payload(before) }
    #expect(error?.code == .wrongKey && error?.message.contains("is sealed with another key") == true)
    let report = try await scratch.administration(try transforms([Self.new])).verify()
    #expect(report.issues.isEmpty && report.unauthenticated == 1)
    try await later.write(before, payload: Self.payload, metadata: scratch.metadata())
    #expect(try await later.payload(before)?.payload == Self.payload)
  }

  @Test func thereIsAtLeastOneKey() async {
    let found = await errorCode { _ = try SealedTransform(keys: []) }
    #expect(found == .invalidOption)
  }

  /// During a migration, a store serves entries in the clear, but still no entry with a forged seal.
  @Test func entriesInTheClearAreServedIfSealingIsNotRequired() async throws {
    let (scratch, plain, sealed) = (try await Scratch(), try CacheKey("notes/a"), try CacheKey("notes/b"))
    let transforms = try Transforms.named(["zstd", "sealed"], required: false)
    let store = scratch.store(transforms)
    try await scratch.store().write(plain, payload: Self.payload, metadata: scratch.metadata(["note": "a"]))
    #expect(try await store.payload(plain)?.payload == Self.payload)
    try await store.write(sealed, payload: Self.payload, metadata: scratch.metadata())
    #expect(try await scratch.administration(transforms).verify().issues.isEmpty)
    var (payload, metadata) = try await scratch.stored(sealed)
    metadata.freshUntil = .distantFuture
    try await scratch.replace(sealed, payload, metadata, isIntact: true)
    #expect(await errorCode { _ = try await store.payload(sealed) } == .damaged)
    #expect(try await scratch.administration(transforms).verify().issues.map(\.kind) == [.notAuthentic])
    // A confirmed entry is sealed from then on.
    let version = try await scratch.stored(plain).metadata.checksum
    #expect(try await !store.renew(plain, from: version) { $0 })
    try await store.write(
      plain, payload: Self.payload, metadata: scratch.metadata(["note": "a"]), expecting: .checksum(version))
    #expect(try await scratch.stored(plain).metadata.transforms?.contains("sealed:") == true)
  }

  /// Such as the list of recent queries.
  @Test func aForgedValueIsNotUpdated() async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("queries/v1/recent"))
    let codec = PayloadCodec<Int>(
      "count", encode: { count throws(CacheError) in (Array(repeating: 1, count: count), "text/plain") },
      decode: { bytes, _, _ throws(CacheError) in bytes.count })
    try await scratch.store().write(key, payload: [1, 1], metadata: scratch.metadata())
    let store = scratch.store(try Transforms.named(["sealed"], required: true))
    let found = await errorCode {
      try await store.update(key, codec) { current throws(CacheError) in ((current ?? 0) + 1, .distantFuture) }
    }
    #expect(found == .notSealed)
  }

  private func head(_ scratch: Scratch, _ language: String, _ body: String = "secret=1") throws -> StoredHead {
    let now = scratch.clock.now.sinceEpoch
    let fields: HTTP.Fields = ["Content-Type": "text/plain", "Set-Cookie": body, "Vary": "Accept-Language"]
    var head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: fields), storedAt: now, freshUntil: now + .seconds(60),
      retainUntil: now + .seconds(600))
    head.selector = try #require(
      VariantSelector(
        response: fields, request: HTTP.Request(url: "https://example.com/a", fields: ["Accept-Language": language]),
        key: CredentialKey { () throws(CacheError) in [1] }))
    return head
  }

  /// One response of a URL that cannot be used must not keep the others from being used.
  @Test func aVariantThatIsNotAuthenticIsRefusedAlone() async throws {
    let (scratch, url) = (try await Scratch(), "https://example.com/a")
    let transforms = try Transforms.named(["zstd", "sealed"], required: true)
    let storage = URLResponses(store: scratch.store(transforms))
    let plain = URLResponses(store: scratch.store())
    var keys: [String: String] = [:]
    for (language, storage) in [("", storage), ("de", storage), ("en", storage), ("fr", plain)] {
      keys[language] = try await storage.store(Self.payload, head: head(scratch, language), for: url)
    }
    let (german, french, english) = (try #require(keys["de"]), try #require(keys["fr"]), try #require(keys["en"]))
    var (payload, metadata) = try await scratch.stored(try CacheKey(english))
    metadata.attributes[":status"] = "404"
    try await scratch.replace(try CacheKey(english), payload, metadata, isIntact: true)
    // The list of the responses is not secret: it was last written by a store that seals nothing.
    #expect(
      Set(try await storage.variants(of: url) { $0 }.selected.map(\.key)).isSuperset(of: [german, french, english]))
    let selector = try head(scratch, "de").selector
    #expect(try await storage.latest(of: url) { $0.filter { $0 == selector } }.response?.key == german)
    #expect(try await storage.response(under: german)?.response.body == Self.payload)
    let cases: [(String, CacheError.Code)] = [(french, .notSealed), (english, .damaged)]
    for (key, expected) in cases {
      #expect(await errorCode { _ = try await storage.response(under: key) } == expected)
    }
  }
}
