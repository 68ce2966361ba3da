import TestStorage
@testable import CacheCore
import FetchVocabulary
import HTTPCaching
import EngineConformance
import EngineAPI
import Synchronization
import Testing
import PayloadTransforms

/// A 304 gives an entry new times and header fields. Its payload is neither encoded, compressed, sealed nor hashed again.
struct RenewalTests {
  private static let freshness = FreshnessPolicy(
    timeToLive: .seconds(10), staleIfError: .zero, staleWhileRevalidate: .zero)
  private static let url = "https://example.com/a"
  private static let text = String(repeating: #"{"name":"Bern","country":"CH"},"#, count: 40)

  /// Transforms and a codec that count how often they encode a payload.
  private final class Work: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }

    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

    func transforms() throws -> EntryTransforms {
      EntryTransforms([
        CountedTransform(base: ZstdTransform(), work: self),
        CountedTransform(base: try Transforms.sealed(), work: self),
      ])
    }

    var codec: PayloadCodec<String> {
      PayloadCodec(
        "text",
        encode: { text in
          self.add("codec")
          return (Array(text.utf8), "text/plain")
        }, decode: { bytes, _, _ in bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } })
    }
  }

  private struct CountedTransform: PayloadTransform {
    let base: any PayloadTransform
    let work: Work

    var name: String { base.name }
    var hidesContent: Bool { base.hidesContent }
    var tagBytes: Int { base.tagBytes }
    var isRequired: Bool { base.isRequired }

    func encode(
      _ bytes: Span<UInt8>, _ context: TransformContext
    ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
      work.add("\(name) \(context.part)")
      return try base.encode(bytes, context)
    }

    func decode(
      _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
    ) throws(CacheError) -> [UInt8] { try base.decode(bytes, parameter: parameter, context) }
  }

  /// Sends a text, and then confirms it.
  private struct Server: DataTransferService {
    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      let isConditional = request.fields.contains("if-none-match")
      let head = HTTP.ResponseHead(
        status: isConditional ? 304 : 200,
        fields: ["ETag": "\"1\"", "Cache-Control": "max-age=10", "X-Number": isConditional ? "2" : "1"])
      return HTTP.Response(head, body: isConditional ? [] : Array(text.utf8))
    }
  }

  @Test(arguments: TestedEngine.all) func aConfirmedResponseIsTransformedOnce(engine: TestedEngine) async throws {
    let (scratch, work) = (try await Scratch(engine), Work())
    let cache = HTTPCache(
      responses: URLResponses(store: scratch.store(try work.transforms())), transfer: Server(),
      services: FetchServices(rules: HTTPCacheRules(freshness: Self.freshness), now: { scratch.clock.now.sinceEpoch }))
    for number in 1...3 {
      var responses = cache.responses(to: HTTP.Request(url: Self.url), options: FetchOptions()).makeAsyncIterator()
      let snapshot = try #require(try await responses.next())
      #expect(snapshot.value.body == Array(Self.text.utf8) && snapshot.isRevalidated == (number > 1))
      #expect(snapshot.value.head.fields["x-number"] == (number == 1 ? "1" : "2"))
      #expect(work["zstd payload"] == 1 && work["sealed payload"] == 1, "after response \(number)")
      #expect(work["sealed attributes"] == number)
      scratch.clock.advance(by: .seconds(11))
    }
  }

  private struct Request: CacheableRequest {
    static let resource = "texts"
    var parameters: [(name: String, value: String)] { [] }
  }

  @Test(arguments: TestedEngine.all) func aConfirmedAnswerIsEncodedOnce(engine: TestedEngine) async throws {
    let (scratch, work) = (try await Scratch(engine), Work())
    let storage = EngineResponseStorage<Request, String>(store: scratch.store(try work.transforms()), codec: work.codec)
    try await storage.store(Self.text, head: head(scratch), for: Request())
    let payload = try await scratch.stored(CacheKey(for: Request())).payload
    for _ in 1...3 {
      scratch.clock.advance(by: .seconds(11))
      let stored = try #require(try await storage.response(for: Request(), isCounted: false))
      try await storage.store(Self.text, head: head(scratch), for: Request(), confirming: stored, token: nil)
      #expect(try await storage.response(for: Request(), isCounted: false)?.head == head(scratch))
    }
    #expect(try await scratch.stored(CacheKey(for: Request())).payload == payload)
    #expect(work["codec"] == 1 && work["zstd payload"] == 1 && work["sealed payload"] == 1)
    #expect(work["sealed attributes"] == 4)
  }

  private func head(_ scratch: Scratch) -> StoredHead {
    let now = scratch.clock.now.sinceEpoch
    return StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["etag": "\"1\""]), storedAt: now, freshUntil: now + .seconds(10),
      retainUntil: now + .seconds(600))
  }

  /// A payload that was damaged meanwhile is renewed unnoticed, and its checksum still tells: it was not hashed.
  @Test(arguments: [[], ["sealed"]]) func aRenewalDoesNotHashThePayload(chain: [String]) async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let store = scratch.store(try Transforms.named(chain))
    try await store.write(key, payload: Array(Self.text.utf8), metadata: scratch.metadata())
    var (payload, metadata) = try await scratch.stored(key)
    payload[3] ^= 1
    try await scratch.replace(key, payload, metadata, isIntact: false)
    scratch.clock.advance(by: .seconds(10))
    metadata = scratch.metadata(["etag": "2"])
    let (renewed, version) = (metadata, try await scratch.stored(key).metadata.checksum)
    #expect(try await store.renew(key, from: version) { _ in renewed })
    #expect(await errorCode { _ = try await store.payload(key) } == .damaged)
    #expect(try await scratch.stored(key).metadata.storedAt == scratch.clock.now)
  }

  /// A renewal must not hide the damage that a checksum detects.
  @Test func damagedMetadataIsNotRenewed() async throws {
    let (scratch, key) = (try await Scratch(), try CacheKey("notes/a"))
    let store = scratch.store()
    try await store.write(key, payload: [1, 2, 3], metadata: scratch.metadata(["note": "a"]))
    var (payload, metadata) = try await scratch.stored(key)
    metadata.payloadChecksum ^= 1
    try await scratch.replace(key, payload, metadata, isIntact: false)
    #expect(try await !store.renew(key, from: metadata.checksum) { $0 })
    #expect(try await scratch.stored(key).metadata == metadata)
  }
}
