import TestStorage
import FetchVocabulary
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

/// An entry is served only if it is exactly the sealed one: nobody without the key can add, change, swap or prolong
/// one.
struct SealTests {
  private static let payload = Array(String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40).utf8)
  private static let attributes = ["etag": "\"1\"", "cache-control": "max-age=60", ":status": "203", "note": "private"]

  /// The stored entries that a forger has: two versions of one entry, another entry, and the entry under another key.
  struct Loot: Sendable {
    var present: EntryAsStored
    let former: EntryAsStored
    let other: EntryAsStored
    let foreign: EntryAsStored
    let plain: EntryAsStored
  }

  /// A change of a stored entry, which then gets the right checksum.
  struct Forgery: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The failure of a read; `nil` if the entry is served.
    let code: CacheError.Code?
    let change: @Sendable (Loot) -> EntryAsStored

    init(
      _ name: String, _ code: CacheError.Code? = .damaged,
      metadata change: @escaping @Sendable (inout EntryMetadata) -> Void
    ) {
      self.init(name, code) { loot in
        var metadata = loot.present.metadata
        change(&metadata)
        return EntryAsStored(payload: loot.present.payload, metadata: metadata)
      }
    }

    init(_ name: String, _ code: CacheError.Code? = .damaged, _ change: @escaping @Sendable (Loot) -> EntryAsStored) {
      (testDescription, self.code, self.change) = (name, code, change)
    }

    /// Takes `attribute` from one of the other entries.
    static func swapped(_ attribute: String, _ source: @escaping @Sendable (Loot) -> EntryAsStored) -> Forgery {
      Forgery("\(attribute) of another entry") { loot in
        var metadata = loot.present.metadata
        metadata.attributes[attribute] = source(loot).metadata.attributes[attribute]
        return EntryAsStored(payload: loot.present.payload, metadata: metadata)
      }
    }

    static func attribute(_ name: String, _ value: String?) -> Forgery {
      Forgery("\(name) is \(value ?? "removed")") { $0.attributes[name] = value }
    }
  }

  private static let hour = Duration.seconds(3_600)

  private static let forgeries: [Forgery] = [
    Forgery("nothing", nil) { _ in },
    Forgery("freshUntil lowered", nil) { $0.freshUntil = $0.freshUntil.advanced(by: .seconds(-30)) },
    Forgery("freshUntil raised") { $0.freshUntil = $0.freshUntil.advanced(by: .milliseconds(1)) },
    Forgery("freshUntil raised with its limit") { metadata in
      metadata.freshUntil = metadata.freshUntil.advanced(by: SealTests.hour)
      metadata.attributes[":seal"] = "\(metadata.freshUntil.milliseconds) "
    }, Forgery("retainUntil raised") { $0.retainUntil = $0.retainUntil.advanced(by: SealTests.hour) },
    Forgery("retainUntil lowered") { $0.retainUntil = $0.retainUntil.advanced(by: .milliseconds(-1)) },
    Forgery("storedAt raised") { $0.storedAt = $0.storedAt.advanced(by: .seconds(1)) },
    Forgery("storedAt lowered") { $0.storedAt = $0.storedAt.advanced(by: .seconds(-1)) },
    Forgery("contentType") { $0.contentType = "text/html" },
    .attribute("etag", "\"2\""), .attribute("etag", nil), .attribute("cache-control", "max-age=99999999"),
    .attribute(":status", "200"), .attribute(":status", nil), .attribute(":initial-age", "-1000000"),
    .attribute("note", "public"), .attribute("set-cookie", "id=1"), .attribute(":fields", "Content-Type: text/html"),
    .attribute(":seal", nil), .attribute(":seal", ""), .attribute(":seal", "1700000060000"), .attribute(":seal", "x y"),
    .attribute(":hidden", nil), .attribute(":hidden", ""), .attribute(":hidden", "AAAA"), .attribute(":hidden", "?"),
    Forgery(":hidden cut off") { metadata in
      metadata.attributes[":hidden"] = metadata.hidden.map { String($0.dropLast(4)) }
    }, .swapped(":hidden") { $0.former }, .swapped(":hidden") { $0.other }, .swapped(":hidden") { $0.foreign },
    .swapped(":seal") { $0.former }, .swapped(":seal") { $0.other },
    Forgery("the payload of the former version") {
      EntryAsStored(payload: $0.former.payload, metadata: $0.present.metadata)
    },
    Forgery("the payload and the seal of the former version") { loot in
      var metadata = loot.present.metadata
      metadata.attributes[":seal"] = loot.former.metadata.attributes[":seal"]
      return EntryAsStored(payload: loot.former.payload, metadata: metadata)
    },
    Forgery("the payload of another entry") { EntryAsStored(payload: $0.other.payload, metadata: $0.present.metadata) },
    Forgery("the metadata of another entry") {
      EntryAsStored(payload: $0.present.payload, metadata: $0.other.metadata)
    }, Forgery("another entry", .damaged) { $0.other },
    Forgery("an entry of a store with another key", .wrongKey) { $0.foreign },
    Forgery("the payload cut off") {
      EntryAsStored(payload: Array($0.present.payload.dropLast()), metadata: $0.present.metadata)
    },
    Forgery("the payload without its tag") {
      EntryAsStored(payload: Array($0.present.payload.dropLast(16)), metadata: $0.present.metadata)
    }, Forgery("no payload") { EntryAsStored(payload: [], metadata: $0.present.metadata) },
    Forgery("an entry in the clear", .notSealed) { $0.plain },
    Forgery("in the clear, with the metadata", .notSealed) { loot in
      var metadata = loot.present.metadata
      metadata.attributes[":transforms"] = nil
      return EntryAsStored(payload: SealTests.payload, metadata: metadata)
    },
    Forgery("in the clear, and compressed", .notSealed) { loot in
      var metadata = loot.plain.metadata
      metadata.attributes[":transforms"] = "zstd"
      return EntryAsStored(payload: loot.plain.payload, metadata: metadata)
    }, .attribute(":transforms", "sealed:"), .attribute(":transforms", ""),
  ]

  /// Writes the entries; the last one written is the present version of `notes/a`.
  private func loot(_ scratch: Scratch, _ chain: [String]) async throws -> (Loot, key: CacheKey) {
    let (key, other) = (try CacheKey("notes/a"), try CacheKey("notes/b"))
    let transforms = try Transforms.named(chain)
    func stored(_ key: CacheKey, _ transforms: EntryTransforms) async throws -> EntryAsStored {
      try await scratch.store(transforms).write(key, payload: Self.payload, metadata: scratch.metadata(Self.attributes))
      let entry = try await scratch.stored(key)
      return EntryAsStored(payload: entry.payload, metadata: entry.metadata)
    }
    let plain = try await stored(key, .none)
    let foreign = try await stored(key, try Transforms.named(chain, secrets: [Transforms.otherSecret]))
    let former = try await stored(key, transforms)
    let neighbor = try await stored(other, transforms)
    let present = try await stored(key, transforms)
    return (Loot(present: present, former: former, other: neighbor, foreign: foreign, plain: plain), key)
  }

  @Test(arguments: [["sealed"], ["zstd", "sealed"]], forgeries)
  func aForgedEntryIsNotServed(chain: [String], forgery: Forgery) async throws {
    let scratch = try await Scratch()
    let (loot, key) = try await loot(scratch, chain)
    let transforms = try Transforms.named(chain, required: true)
    let codec = PayloadCodec<Int>(
      "count", encode: { _ throws(CacheError) in ([], "") }, decode: { bytes, _, _ throws(CacheError) in bytes.count })
    // A value that was decoded before must not hide the forgery.
    let store = scratch.store(transforms)
    for _ in 0..<3 { #expect(try await store.read(key, codec)?.value == Self.payload.count) }
    let forged = forgery.change(loot)
    try await scratch.replace(key, forged.payload, forged.metadata, isIntact: true)
    let administration = scratch.administration(transforms)
    #expect(await errorCode { _ = try await store.payload(key) } == forgery.code)
    #expect(await errorCode { _ = try await store.read(key, codec) } == forgery.code)
    #expect(await errorCode { _ = try await administration.entry(key) } == forgery.code)
    // A check names the entry; with another key it cannot tell.
    let report = try await administration.verify()
    let kind: [CacheError.Code: IntegrityIssue.Kind] = [.damaged: .notAuthentic, .notSealed: .notSealed]
    let isMalformed = forged.metadata.transformSteps == nil
    #expect(
      report.issues.map(\.kind)
        == (isMalformed ? [.undecodable] : [forgery.code.flatMap { kind[$0] }].compactMap(\.self)))
    #expect(report.issues.allSatisfy { $0.key == key })
    #expect(report.unauthenticated == (forgery.code == .wrongKey ? 1 : 0))
    if forgery.code == nil {
      #expect(try await store.payload(key)?.metadata.attributes == Self.attributes)
      #expect(try await store.payload(key)?.metadata.freshUntil == forged.metadata.freshUntil)
    }
    // The next write replaces it.
    try await store.write(key, payload: [1], metadata: scratch.metadata())
    #expect(try await scratch.store(transforms).payload(key)?.payload == [1])
    #expect(try await administration.verify().issues.isEmpty)
  }

  @Test func theListIsOfEveryAttribute() async throws {
    let (loot, _) = try await loot(try await Scratch(), ["sealed"])
    let stored = Set(loot.present.metadata.attributes.keys)
    #expect(stored == ["etag", "cache-control", ":status", ":transforms", ":seal", ":hidden"])
  }

  @Test func withoutHiddenAttributesTheRestIsProvedToo() async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let store = scratch.store(try Transforms.named(["sealed"], required: true))
    try await store.write(key, payload: [], metadata: scratch.metadata())
    let (payload, metadata) = try await scratch.stored(key)
    var forged = metadata
    forged.contentType = "text/html"
    try await scratch.replace(key, payload, forged, isIntact: true)
    #expect(await errorCode { _ = try await store.payload(key) } == .damaged)
  }

  @Test(arguments: TestedEngine.all) func entriesAreMadeStaleWithoutAKey(engine: TestedEngine) async throws {
    let (scratch, key) = (try await Scratch(engine), try CacheKey("notes/a"))
    let transforms = try Transforms.named(["zstd", "sealed"], required: true)
    try await scratch.store(transforms).write(key, payload: Self.payload, metadata: scratch.metadata(Self.attributes))
    scratch.clock.advance(by: .seconds(10))
    #expect(try await scratch.administration().change(.makeStale, keys: [key], dryRun: false).entries == 1)
    let found = try #require(try await scratch.store(transforms).payload(key))
    #expect(found.payload == Self.payload && found.metadata.state(at: scratch.clock.now) == .stale)
    #expect(try await scratch.administration(transforms).verify().issues.isEmpty)
  }

  @Test func aCheckOfAnotherCacheTellsOnlyWhatItCan() async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let transforms = try Transforms.named(["sealed"], required: true)
    try await scratch.store(transforms).write(key, payload: [1], metadata: scratch.metadata())
    try await scratch.store().write(CacheKey("notes/b"), payload: [1], metadata: scratch.metadata())
    let cases: [(EntryTransforms, issues: Int, unauthenticated: Int)] = [
      (.none, 0, 1), (try Transforms.named([]), 0, 0), (transforms, 1, 0),
      (try Transforms.named(["sealed"], secrets: [Transforms.otherSecret], required: true), 1, 1),
    ]
    for (transforms, issues, unauthenticated) in cases {
      let report = try await scratch.administration(transforms).verify()
      #expect(report.issues.count == issues && report.unauthenticated == unauthenticated)
      #expect(report.entriesChecked == 2)
    }
  }

  @Test(arguments: [true, false]) func aRepairDropsForgedEntries(isDryRun: Bool) async throws {
    let (scratch, repaired) = (try await Scratch(TestedEngine.all[0]), try await Scratch(TestedEngine.all[0]))
    let transforms = try Transforms.named(["sealed"], required: true)
    let keys = try ["notes/a", "notes/b", "notes/c"].map { text throws(CacheError) in try CacheKey(text) }
    for key in keys { try await scratch.store(transforms).write(key, payload: [1], metadata: scratch.metadata()) }
    var (payload, metadata) = try await scratch.stored(keys[0])
    metadata.retainUntil = .distantFuture
    try await scratch.replace(keys[0], payload, metadata, isIntact: true)
    try await scratch.store().write(keys[1], payload: [2], metadata: scratch.metadata())
    var items: [DamagedStoreItem] = [.end]
    for key in keys.reversed() {
      (payload, metadata) = try await scratch.stored(key)
      items.append(.entry(ExportedEntry(key: key, metadata: metadata, payload: payload)))
    }
    var repair = StoreRepair(
      ItemReader(items: items), into: isDryRun ? nil : repaired.store(transforms), transforms: transforms)
    let report = try await repair.run()
    #expect(report.lost.map(\.key) == [keys[0], keys[1]])
    #expect(report.lost.map(\.kind) == [.notAuthentic, .notSealed])
    #expect(report.saved == 1)
    #expect(try await repaired.engine.scan(ScanRequest()).entries.map(\.key) == (isDryRun ? [] : [keys[2]]))
  }

  /// Returns the items of a list, the last one first.
  private struct ItemReader: DamagedStoreReader {
    var items: [DamagedStoreItem]
    mutating func begin(_ request: ScanRequest) throws(CacheError) {}
    mutating func next() async throws(CacheError) -> DamagedStoreItem { items.removeLast() }
  }
}
