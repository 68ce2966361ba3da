import TestStorage
import EngineAPI
import FetchVocabulary
import Synchronization
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Fetching URLs: policies, work in the background, and the cache's statements about itself. The rules have separate
/// tests.
struct CacheCoreTests {
  @Test func aFreshResponseIsServedWithItsAge() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    let first = try #require(try await bench.get().first)
    #expect(first.source == .origin)
    #expect(first.value.head.fields["Cache-Status"] == "ResponseCache; fwd=uri-miss; fwd-status=200; stored; ttl=60")
    #expect(first.value.head.fields["Age"] == nil)
    bench.wait(25)
    let second = try #require(try await bench.get().first)
    #expect(second.source == .cache)
    #expect(second.value.body == first.value.body)
    #expect(second.value.head.fields["Cache-Status"] == "ResponseCache; hit; ttl=35")
    #expect(second.value.head.fields["Age"] == "25")
    #expect(bench.transfer.requests.count == 1)
    #expect(bench.storage.misses == 1 && bench.storage.hits == 1)
    #expect(bench.observed.map(\.decision.action) == [.fetch, .serve])
  }

  /// After a file is deployed, an earlier 404 is forgotten; but it is still served if the origin fails.
  @Test(arguments: [200, 404]) func withoutALifetimeEachFetchAsksTheOrigin(status: Int) async throws {
    let bench = HTTPCacheBench(FakeTransfer(status, [:], "a"))
    let first = try #require(try await bench.get().first)
    #expect(
      first.value.head.fields["Cache-Status"] == "ResponseCache; fwd=uri-miss; fwd-status=\(status); stored; ttl=0")
    #expect(first.entry.isStored && first.entry.isStale)
    let deployed = try #require(try await bench.get(from: FakeTransfer(200, [:], "b")).first)
    #expect(deployed.value.body == Array("b".utf8) && deployed.source == .origin)
    let inPlace = try #require(try await bench.get(from: FakeTransfer(503, [:], "")).first)
    #expect(inPlace.value.body == Array("b".utf8) && inPlace.source == .cache && !inPlace.warnings.isEmpty)
  }

  @Test func entriesStoredAheadOfTheClockAreFetchedAgain() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=864000"], "a"))
    bench.wait(864_000)
    _ = try await bench.get()
    bench.wait(-864_000)
    let offline = try #require(try await bench.get([:], .cacheOnly).first)
    #expect(offline.entry.isStale && offline.entry.age == nil && offline.value.head.fields["Age"] == "0")
    #expect(offline.value.head.fields["Cache-Status"] == "ResponseCache; hit")
    let anew = try #require(try await bench.get(from: FakeTransfer(200, ["Cache-Control": "max-age=60"], "b")).first)
    #expect(anew.value.body == Array("b".utf8) && anew.entry.age == .zero)
    #expect(
      bench.observed.last?.criteria.contains { $0.finding == "unknown: stored 864000 s ahead of the clock" } == true)
  }

  @Test func staleEntriesInUseAreRevalidatedAfterwards() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10, stale-while-revalidate=60"], "a"))
    _ = try await bench.get()
    bench.wait(30)
    let newer = FakeTransfer(200, ["Cache-Control": "max-age=10"], "b")
    let stale = try #require(try await bench.get(from: newer).first)
    #expect(stale.value.body == Array("a".utf8))
    #expect(stale.entry.isStale)
    await bench.background.finish()
    #expect(newer.requests.count == 1)
    #expect(try await bench.get(from: newer).first?.value.body == Array("b".utf8))
    #expect(newer.requests.count == 1)
  }

  /// The caller already has its response. So the background work reports that the cache could not store the new one.
  @Test func aFailureToKeepWhatCameAfterwardsIsReported() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10, stale-while-revalidate=60"], "a"))
    _ = try await bench.get()
    bench.wait(30)
    _ = try await bench.get(from: FakeTransfer(200, ["Cache-Control": "no-store"], "b"))
    #expect(await bench.background.finish().isEmpty, "it must not be stored")
    // It has replaced the older one.
    #expect(bench.storage.keys.isEmpty)
    _ = try await bench.get()
    bench.wait(30)
    let full = CacheError(.noSpace, "the disk is full")
    bench.storage.failToStore(full)
    #expect(
      try await bench.get(from: FakeTransfer(200, ["Cache-Control": "max-age=10"], "b")).first?.entry.isStale == true)
    #expect(await bench.background.finish().map(\.message) == [full.message])
    #expect(await bench.background.finish().isEmpty)
  }

  @Test(arguments: [429, 500, 502, 503, 504]) func aStaleResponseIsServedAfterAFailure(status: Int) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["ETag": "\"1\""], "a"))
    _ = try await bench.get()
    bench.wait(299)
    let stale = try #require(try await bench.get(from: FakeTransfer(status)).first)
    #expect(stale.value.body == Array("a".utf8))
    #expect(stale.warnings.map(\.error.code) == [.originUnreachable])
    bench.wait(2)
    #expect(try await bench.get(from: FakeTransfer(status)).first?.value.head.status == status)
  }

  @Test func cachedThenNetworkShowsNothingThatMustBeRevalidated() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10, must-revalidate"], "a"))
    _ = try await bench.get()
    #expect(try await bench.get([:], .cachedThenNetwork).map(\.source) == [.cache, .origin])
    bench.wait(11)
    #expect(try await bench.get([:], .cachedThenNetwork).map(\.source) == [.origin])
  }

  @Test func offlineNothingIsUsedThatMustBeRevalidated() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10, must-revalidate"], "a"))
    _ = try await bench.get()
    #expect(try await bench.get([:], .cacheOnly).count == 1)
    bench.wait(11)
    let error = await #expect(throws: CacheError.self) { try await bench.get([:], .cacheOnly) }
    #expect(error?.code == .notCached)
    #expect(error?.message.contains("must-revalidate") == true)
    #expect(bench.transfer.requests.count == 1)
  }

  @Test func onlyIfCachedMakesNoRequest() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, [:], "a"))
    let refused = try #require(try await bench.get(["Cache-Control": "only-if-cached"]).first)
    #expect(refused.value.head.status == 504)
    #expect(bench.transfer.requests.isEmpty)
  }

  /// Responses are stored by URL: the response to a request with other content, or none, would be taken for this one's.
  @Test func aGETWithContentBypassesTheCache() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    _ = try await bench.get()
    let search = FakeTransfer(200, ["Cache-Control": "max-age=60"], "found")
    for _ in 1...2 {
      let snapshot = try #require(try await bench.get(content: [1], from: search).first)
      #expect(snapshot.value.body == Array("found".utf8) && !snapshot.entry.isStored)
    }
    #expect(search.requests.map(\.body) == [[1], [1]])
    #expect(try await bench.get().first?.value.body == Array("a".utf8))
    #expect(bench.transfer.requests.count == 1)
    let error = await #expect(throws: CacheError.self) { try await bench.get([:], .cacheOnly, content: [1]) }
    #expect(error?.code == .notCached)
  }

  @Test func theCacheEvaluatesTheClientsConditions() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "a"))
    _ = try await bench.get()
    let same = try #require(try await bench.get(["If-None-Match": "\"1\""]).first)
    #expect(same.value.head.status == 304)
    #expect(same.value.body.isEmpty)
    #expect(try await bench.get(["If-None-Match": "\"2\""]).first?.value.head.status == 200)
    #expect(bench.transfer.requests.count == 1)
  }

  @Test func theCachesConditionsTakeThePlaceOfTheClients() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["ETag": "\"1\""], "a"))
    _ = try await bench.get()
    let confirming = FakeTransfer(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"])
    let snapshot = try #require(try await bench.get(["If-None-Match": "\"2\""], from: confirming).first)
    #expect(confirming.requests.map { $0.fields.values(of: "If-None-Match") } == [["\"1\""]])
    #expect(snapshot.isRevalidated)
    #expect(snapshot.value.head.status == 200)
    #expect(snapshot.value.head.fields["Cache-Status"] == "ResponseCache; fwd=stale; fwd-status=304; stored; ttl=60")
  }

  @Test func partsAreJoinedAndServedForRanges() async throws {
    let parts: [(range: String, extent: String, body: String)] = [
      ("bytes=0-2", "bytes 0-2/6", "abc"), ("bytes=3-5", "bytes 3-5/6", "def"),
    ]
    let bench = HTTPCacheBench(FakeTransfer())
    for part in parts {
      let fields: HTTP.Fields = [
        "ETag": "\"1\"", "Cache-Control": "max-age=60", "Content-Range": part.extent, "Content-Length": "3",
      ]
      let snapshot = try await bench.get(["Range": part.range], from: FakeTransfer(206, fields, part.body)).first
      #expect(snapshot?.value.body == Array(part.body.utf8))
    }
    let whole = try #require(try await bench.get().first)
    #expect(whole.value.head.status == 200)
    #expect(whole.value.body == Array("abcdef".utf8))
    let middle = try #require(try await bench.get(["Range": "bytes=2-3"]).first)
    #expect(middle.value.head.status == 206)
    #expect(middle.value.head.fields["Content-Range"] == "bytes 2-3/6")
    #expect(middle.value.body == Array("cd".utf8))
    #expect(bench.transfer.requests.isEmpty)
  }

  /// Joined, they would be larger than the limit: the later one stays.
  @Test(arguments: [(5, 1), (6, 0)]) func partsAreJoinedUpToALimit(limit: Int, requests: Int) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, [:], "abcdef"), maxContentBytes: limit)
    for (first, body) in [(0, "abc"), (3, "def")] {
      let fields: HTTP.Fields = [
        "ETag": "\"1\"", "Cache-Control": "max-age=60", "Content-Range": "bytes \(first)-\(first + 2)/6",
      ]
      let snapshot = try await bench.get(
        ["Range": "bytes=\(first)-\(first + 2)"], from: FakeTransfer(206, fields, body))
      #expect(snapshot.first?.value.body == Array(body.utf8))
    }
    #expect(try await bench.get(["Range": "bytes=4-5"]).first?.value.body == Array("ef".utf8))
    #expect(bench.transfer.requests.isEmpty)
    #expect(try await bench.get().first?.value.body == Array("abcdef".utf8))
    #expect(bench.transfer.requests.count == requests)
  }

  /// A negative `ttl` says how long a response has been stale (RFC 9211, section 2.6).
  @Test func theTimeSinceAResponseBecameStaleIsReported() async throws {
    let bench = HTTPCacheBench(
      FakeTransfer(200, ["Cache-Control": "max-age=10, stale-if-error=1000", "Age": "4"], "a"))
    _ = try await bench.get()
    bench.wait(100)
    let failing = FakeTransfer(503, [:], "")
    let snapshot = try #require(try await bench.get(from: failing).first)
    #expect(snapshot.entry.isStale && snapshot.value.body == Array("a".utf8))
    #expect(snapshot.value.head.fields["Cache-Status"]?.contains("; ttl=-94") == true, "\(snapshot.value.head.fields)")
  }

  @Test func aStorageThatFailsIsAWarning() async throws {
    let broken = ShelfOfResponses(failing: CacheError(.damaged, "the store is damaged"))
    let bench = HTTPCacheBench(FakeTransfer(200, [:], "a"), storage: broken)
    let snapshot = try #require(try await bench.get().first)
    #expect(snapshot.value.body == Array("a".utf8))
    #expect(snapshot.warnings.map(\.error.message) == ["the store is damaged"])
    let error = await #expect(throws: CacheError.self) { try await bench.get([:], .cacheOnly) }
    #expect(error?.code == .damaged)
  }

  @Test func anExplanationAsksAndChangesNothing() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10"], "a"))
    let request = HTTP.Request(url: HTTPCacheBench.url)
    let before = try await bench.cache().responses(to: request, options: FetchOptions()).explanation()
    #expect(before.decision == CacheDecision(.fetch, "nothing is stored", forward: .uriMiss))
    #expect(bench.transfer.requests.isEmpty && bench.storage.keys.isEmpty)
    #expect(bench.storage.hits == 0 && bench.storage.misses == 0)
    _ = try await bench.get()
    bench.wait(11)
    let after = try await bench.cache().responses(to: request, options: FetchOptions()).explanation()
    #expect(after.decision.action == .fetch)
    #expect(after.decision.forwardReason == .stale)
    #expect(after.criteria.map(\.name) == ["stored response", "age", "lifetime", "freshness"])
    #expect(after.key == bench.storage.keys.first)
    #expect(bench.transfer.requests.count == 1)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH"])
  func unsafeRequestsArePassedOnAndEmptyTheCache(method: String) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "a"))
    _ = try await bench.get()
    #expect(bench.storage.keys.count == 1)
    let snapshot = try #require(try await bench.get(method: method).first)
    #expect(snapshot.value.head.fields["Cache-Status"] == "ResponseCache; fwd=method; fwd-status=200")
    #expect(bench.storage.keys.isEmpty)
    #expect(bench.transfer.requests.map(\.method) == ["GET", method])
  }

  /// The earlier response is removed, even if the new one cannot be stored.
  @Test(arguments: [false, true]) func aPostWithTheResponseOfAGetIsStored(isFull: Bool) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=60"], "old"))
    _ = try await bench.get()
    let newer = FakeTransfer(200, ["Cache-Control": "max-age=60", "Content-Location": HTTPCacheBench.url], "new")
    if isFull { bench.storage.failToStore(CacheError(.noSpace, "the disk is full")) }
    let posted = try #require(try await bench.get(method: "POST", from: newer).first)
    #expect(String(decoding: posted.value.body, as: UTF8.self) == "new")
    #expect(posted.warnings.count == (isFull ? 1 : 0))
    #expect(bench.storage.keys.count == (isFull ? 0 : 1))
    if !isFull { #expect(try await bench.get().first?.value.body == Array("new".utf8)) }
    #expect(bench.transfer.requests.count == 1)
  }

  @Test(arguments: [("no-store", false), ("max-age=0", true), ("max-age=9", true)])
  func theEntrySaysWhetherTheResponseIsStored(control: String, isStored: Bool) async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": control, "ETag": "\"1\""], "a"))
    let entry = try #require(try await bench.get().first?.entry)
    #expect(entry.isStored == isStored && entry.refusal == (isStored ? nil : "no-store"))
    #expect(bench.storage.keys.isEmpty != isStored)
  }

  /// A confirmation that forbids storing removes the stored response.
  @Test func theEntrySaysThatAConfirmationForbidsStoring() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=0", "ETag": "\"1\""], "a"))
    _ = try await bench.get()
    let confirming = FakeTransfer(304, ["Cache-Control": "no-store", "ETag": "\"1\""], "")
    let snapshot = try #require(try await bench.get(from: confirming).first)
    #expect(snapshot.isRevalidated && !snapshot.entry.isStored && snapshot.entry.refusal == "no-store")
    #expect(bench.storage.keys.isEmpty)
  }
}

/// An HTTP cache over storage in memory, a fake server and a clock that only the test moves.
final class HTTPCacheBench: Sendable {
  static let url = "http://a.example/x"
  static let freshness = FreshnessPolicy(timeToLive: .zero, staleIfError: .seconds(300), staleWhileRevalidate: .zero)

  let storage: ShelfOfResponses
  let transfer: FakeTransfer
  let background = BackgroundWork()
  private let time = Mutex(Duration.seconds(1_000))
  private let explanations = Mutex<[FetchExplanation]>([])

  private let maxContentBytes: Int

  init(_ transfer: FakeTransfer, storage: ShelfOfResponses = ShelfOfResponses(), maxContentBytes: Int = .max) {
    self.transfer = transfer
    self.storage = storage
    self.maxContentBytes = maxContentBytes
  }

  func wait(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
  var observed: [FetchExplanation] { explanations.withLock { $0 } }

  func cache(_ transfer: FakeTransfer? = nil) -> HTTPCache {
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: Self.freshness), now: { self.time.withLock { $0 } },
      background: background, observe: { explanation in self.explanations.withLock { $0.append(explanation) } })
    return HTTPCache(
      responses: storage.responses, transfer: transfer ?? self.transfer, services: services,
      maxContentBytes: maxContentBytes)
  }

  func get(
    _ fields: HTTP.Fields = [:], _ policy: FetchPolicy = .cacheFirst, method: String = "GET",
    url: String = HTTPCacheBench.url, content: [UInt8] = [], from other: FakeTransfer? = nil,
    options: FetchOptions? = nil
  ) async throws -> [Snapshot<HTTP.Response>] {
    let request = HTTP.Request(method: method, url: url, fields: fields, body: content)
    var snapshots: [Snapshot<HTTP.Response>] = []
    let options = options ?? FetchOptions(policy: policy)
    for try await snapshot in cache(other).responses(to: request, options: options) { snapshots.append(snapshot) }
    return snapshots
  }
}

/// Responses in memory, in a store that fails on demand. Its clock stays at second 1,000. So nothing expires.
final class ShelfOfResponses: Sendable {
  private struct Clock: WallClock { var now: Timestamp { Timestamp(milliseconds: 1_000_000) } }

  private let registry: StoreRegistry
  private let engine: FaultyEngine
  private let store: EntryStore

  init(failing error: CacheError? = nil) {
    registry = StoreRegistry()
    engine = FaultyEngine(over: RegistryEngine(registry: registry, clock: Clock()))
    engine.faults.before = { _, _ throws(CacheError) in if let error { throw error } }
    store = EntryStore(engine: engine, clock: Clock(), capabilities: [.ordered, .bounded, .expiring])
  }

  /// The store of `other` as another process has it, which takes leases with the given waits between two looks.
  init(sharing other: ShelfOfResponses, sleep: @escaping @Sendable (Duration) async throws -> Void) {
    registry = other.registry
    engine = other.engine
    store = EntryStore(
      engine: engine, clock: Clock(), capabilities: [.ordered, .bounded, .expiring],
      leases: LeaseOptions(maximumWait: nil, sleep: sleep))
  }

  var responses: URLResponses { URLResponses(store: store) }
  var coalescer: RequestCoalescer { store.coalescer }

  /// Makes storing fail from now on. Entries in the store can still be removed.
  func failToStore(_ error: CacheError) {
    engine.beforeBatches { [engine] _ throws(CacheError) in
      if engine.batches.last?.finalSizes.values.contains(where: { $0 != nil }) == true { throw error }
    }
  }

  /// Makes the response under `key` unreadable from now on.
  func damage(_ damaged: String) {
    engine.faults.entry = { key, entry throws(CacheError) in
      if key.text == damaged { throw CacheError(.damaged, "an entry is damaged") }
      return entry
    }
  }

  func removeAll() { for path in registry.all.keys { registry.remove(path) } }

  private var entries: [ScannedEntry] {
    registry.all.values.flatMap { store in
      var table = store.table
      return table.scan(ScanRequest()).entries
    }
  }

  var keys: [String] { entries.map(\.key.text) }

  /// How many responses for `url` there are, without a signpost to them.
  func count(of url: String) -> Int {
    entries.count { $0.key.text.hasPrefix(URLResponses.keyPrefix(of: url)) && !$0.metadata.isSignpost }
  }

  var hits: Int { store.uses.counts.hits }
  var misses: Int { store.uses.counts.misses }
}
