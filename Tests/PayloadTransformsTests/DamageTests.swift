import TestStorage
@testable import CacheCore
import FetchVocabulary
import HTTPCaching
import PayloadTransforms
import EngineConformance
import EngineAPI
import Testing

/// Damage and a wrong key are errors, and never look like an absent entry.
struct DamageTests {
  private static let payload = Array(String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40).utf8)
  private static let chains = [["zstd"], ["sealed"], ["zstd", "sealed"]]

  /// An entry written with `chain`.
  private func entry(_ scratch: Scratch, _ chain: [String]) async throws -> CacheKey {
    let key = try CacheKey("notes/a")
    try await scratch.store(try Transforms.named(chain)).write(
      key, payload: Self.payload, metadata: scratch.metadata(["note": "private"]))
    return key
  }

  @Test(arguments: TestedEngine.all, chains)
  func eachDamagedByteIsAnError(engine: TestedEngine, chain: [String]) async throws {
    let scratch = try await Scratch(engine)
    let key = try await entry(scratch, chain)
    let (payload, metadata) = try await scratch.stored(key)
    for index in payload.indices {
      var damaged = payload
      damaged[index] ^= 1
      try await scratch.replace(key, damaged, metadata, isIntact: false)
      let store = scratch.store(try Transforms.named(chain))
      #expect(await errorCode { _ = try await store.payload(key) } == .damaged)
    }
    #expect(try await scratch.administration().verify().issues.map(\.kind) == [.checksumMismatch])
  }

  /// A program that changes an entry on purpose can make its checksum right.
  @Test(arguments: chains) func eachForgedByteOfASealedEntryIsAnError(chain: [String]) async throws {
    let scratch = try await Scratch()
    let key = try await entry(scratch, chain)
    let (payload, metadata) = try await scratch.stored(key)
    for index in payload.indices {
      var forged = payload
      forged[index] ^= 1
      try await scratch.replace(key, forged, metadata, isIntact: true)
      let store = scratch.store(try Transforms.named(chain))
      let found = await errorCode { _ = try await store.payload(key) }
      // A frame of zstd has no checksum: some changes only give another text.
      if chain.contains("sealed") { #expect(found == .damaged) } else { #expect(found == nil || found == .damaged) }
    }
    for size in [0, 1, 23, 39, payload.count - 1] {
      try await scratch.replace(key, Array(payload.prefix(size)), metadata, isIntact: true)
      let store = scratch.store(try Transforms.named(chain))
      #expect(await errorCode { _ = try await store.payload(key) } == .damaged)
    }
  }

  @Test func aFrameThatClaimsAllMemoryIsDamage() async throws {
    let scratch = try await Scratch()
    let key = try await entry(scratch, ["zstd"])
    // The magic number, then a header with a content size of eight bytes.
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x00] + Array(repeating: 0x7F, count: 8) + [0x01, 0x00, 0x00]
    try await scratch.replace(key, frame, try await scratch.stored(key).metadata, isIntact: true)
    let store = scratch.store(try Transforms.named(["zstd"]))
    #expect(await errorCode { _ = try await store.payload(key) } == .damaged)
  }

  @Test func aFrameThatHoldsMoreThanAnEntryMayIsRefused() async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let payload = [UInt8](repeating: 7, count: 100_000)
    try await scratch.store(try Transforms.named(["zstd"])).write(key, payload: payload, metadata: scratch.metadata())
    let store = scratch.store(try Transforms.named(["zstd"], maxEntryBytes: 99_999))
    let error = await #expect(throws: CacheError.self) { try await store.payload(key) }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("100000 bytes, more than cache.maxEntryBytes (99999)") == true)
    #expect(error?.key == key.text)
    // It stores such a payload unchanged, and reads it.
    try await store.write(key, payload: payload, metadata: scratch.metadata())
    #expect(try await scratch.stored(key).payload == payload)
    #expect(try await store.payload(key)?.payload == payload)
  }

  @Test func aSealedEntryCannotTakeThePlaceOfAnother() async throws {
    let scratch = try await Scratch()
    let key = try await entry(scratch, ["sealed"])
    let (payload, metadata) = try await scratch.stored(key)
    let other = try CacheKey("notes/b")
    try await scratch.replace(other, payload, metadata, isIntact: true)
    let store = scratch.store(try Transforms.named(["sealed"]))
    #expect(await errorCode { _ = try await store.payload(other) } == .damaged)
  }

  @Test(arguments: TestedEngine.all) func aWrongKeyIsAnErrorThatSaysSo(engine: TestedEngine) async throws {
    let scratch = try await Scratch(engine)
    let key = try await entry(scratch, ["zstd", "sealed"])
    let transforms = try Transforms.named(["sealed"], secrets: [Transforms.otherSecret])
    let store = scratch.store(transforms)
    let codec = PayloadCodec<Int>(
      "count", encode: { _ throws(CacheError) in ([], "") }, decode: { bytes, _, _ throws(CacheError) in bytes.count })
    #expect(await errorCode { _ = try await store.payload(key) } == .wrongKey)
    #expect(await errorCode { _ = try await store.read(key, codec) } == .wrongKey)
    let administration = scratch.administration(transforms)
    #expect(await errorCode { _ = try await administration.entry(key) } == .wrongKey)
    // These calls need no key.
    #expect(try await administration.verify().issues.isEmpty)
    #expect(try await administration.list(EntrySelection(), after: nil, limit: 10).entries.map(\.key) == [key])
    #expect(try await administration.change(.makeStale, keys: [key], dryRun: false).entries == 1)
    // And the payload is unchanged.
    #expect(try await scratch.store(try Transforms.named([])).payload(key)?.payload == Self.payload)
  }

  @Test func attributesAreHiddenExceptThoseForDecisions() async throws {
    let scratch = try await Scratch()
    let (key, store) = (try CacheKey("notes/a"), scratch.store(try Transforms.named(["sealed"])))
    let attributes = ["etag": "\"1\"", "note": "private", "set-cookie": "id=1", ":status": "203"]
    try await store.write(key, payload: Self.payload, metadata: scratch.metadata(attributes))
    let stored = try await scratch.stored(key).metadata.attributes
    #expect(stored["etag"] == "\"1\"")
    #expect(stored[":status"] == "203")
    #expect(!"\(stored)".contains("private") && !"\(stored)".contains("cookie") && !"\(stored)".contains("id=1"))
    #expect(try await store.payload(key)?.metadata.attributes == attributes)
  }

  @Test func responsesForURLsAreFoundByTheirSealedHeads() async throws {
    let scratch = try await Scratch()
    let now = scratch.clock.now.sinceEpoch
    let head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["Content-Type": "text/plain", "Set-Cookie": "secret=1"]),
      storedAt: now, freshUntil: now + .seconds(60), retainUntil: now + .seconds(600))
    let url = "https://example.com/a"
    let storage = URLResponses(store: scratch.store(try Transforms.named(["zstd", "sealed"])))
    let key = try await storage.store(Self.payload, head: head, for: url)
    let other = URLResponses(store: scratch.store(try Transforms.named([])))
    #expect(try await other.variants(of: url) { $0 }.selected.first?.head.head.fields["set-cookie"] == "secret=1")
    #expect(try await other.response(under: key)?.response.body == Self.payload)
    #expect(!"\(try await scratch.stored(try CacheKey(key)).metadata)".contains("secret=1"))
    let wrong = URLResponses(store: scratch.store(try Transforms.named([], secrets: [Transforms.otherSecret])))
    #expect(await errorCode { _ = try await wrong.response(under: key) } == .wrongKey)
    // Looking it up, replacing and invalidating it needs to know no more than that it is there.
    let listed = try await wrong.variants(of: url) { $0 }.selected
    #expect(listed.map(\.key) == [key] && listed.allSatisfy { $0.head.head.fields.lines.isEmpty })
  }

  private static let keys: [(text: String, isKey: Bool)] = [
    (String(repeating: "0a", count: 32), true), (String(repeating: "0G", count: 32), false),
    (String(repeating: "0a", count: 31), false), ("", false), ("password", false),
    ("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", true), ("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", false),
  ]

  @Test(arguments: keys) func aKeyIsThirtyTwoBytes(text: String, isKey: Bool) async {
    let found = await errorCode { _ = try SealedTransform(key: text) }
    #expect(found == (isKey ? nil : .invalidOption))
  }
}
