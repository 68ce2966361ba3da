import CacheDomain
import EngineAPI
import EngineConformance
import FetchVocabulary
import Synchronization
import TestStorage
import Testing
@testable import CacheCore
@testable import CacheData
@testable import HTTPCaching

/// A miss makes two commits: one takes the lease, the other stores the response and releases the lease.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct LeaseCommitTests {
  private struct Request: CacheableRequest {
    static let resource = "notes"
    var parameters: [(name: String, value: String)] { [("name", "a")] }
  }

  /// An origin that does other work before it responds.
  private struct Origin: ResponseOrigin, DataTransferService {
    var meanwhile: @Sendable () async throws -> Void = {}
    let name = "origin"

    func answer(to request: Request, conditions: HTTP.Fields) async throws(CacheError) -> OriginAnswer<[UInt8]> {
      do { try await meanwhile() } catch { throw CacheError(.originUnreachable, "\(error)") }
      return OriginAnswer(head: HTTP.ResponseHead(status: 200), response: [1, 2, 3])
    }

    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"]), body: [1, 2, 3])
    }
  }

  private static let codec = PayloadCodec<[UInt8]>(
    "bytes", encode: { bytes in (bytes, "text/plain") },
    decode: { bytes, _, _ in bytes.withUnsafeBufferPointer { Array($0) } })

  private func services(_ test: CoalescingTest, _ store: EntryStore) -> FetchServices {
    FetchServices(
      rules: HTTPCacheRules(freshness: .standard), now: { test.test.clock.now.sinceEpoch }, coalescer: store.coalescer)
  }

  /// Fetches a note over `store`, by default the store of `test`.
  private func fetch(
    _ test: CoalescingTest, over store: EntryStore? = nil, from origin: Origin = Origin()
  ) async throws -> Snapshot<[UInt8]> {
    let store = store ?? test.store(1)
    let snapshots = CacheCore.fetch(
      Request(), storage: EngineResponseStorage(store: store, codec: Self.codec), origin: origin,
      services: services(test, store), options: FetchOptions(), toDomain: { $0 })
    var iterator = snapshots.makeAsyncIterator()
    return try #require(try await iterator.next())
  }

  @Test func ofATypedResource() async throws {
    let test = try await CoalescingTest()
    let snapshot = try await fetch(test)
    #expect(snapshot.entry.isStored)
    #expect(test.test.engine.batches.count == 2)
    #expect(try await test.entries().map(\.key.text) == ["notes/v1/name=a"])
    #expect(test.time.sleeps.isEmpty, "nothing is renewed any more")
  }

  @Test func ofAURL() async throws {
    let test = try await CoalescingTest()
    let store = test.store(1)
    let cache = HTTPCache(responses: URLResponses(store: store), transfer: Origin(), services: services(test, store))
    for try await _ in cache.responses(to: HTTP.Request(url: "http://a.example/"), options: FetchOptions()) {}
    #expect(test.test.engine.batches.count == 2)
    #expect(try await test.entries().map(\.key.namespace) == ["url"])
  }

  @Test func aResponseIsNotStoredIfAnotherProcessHasTakenTheLease() async throws {
    let test = try await CoalescingTest()
    let key = try Lease.key(for: "notes/v1/name=a")
    let origin = Origin {
      let found = try #require(try await test.table(2).find(key))
      _ = try await test.table(2).take(key, expecting: .checksum(found.version))
    }
    let snapshot = try await fetch(test, from: origin)
    #expect(!snapshot.entry.isStored && snapshot.warnings.isEmpty)
    #expect(try await test.entries().map(\.key) == [key])
    #expect(try await test.table(2).find(key)?.lease?.process == test.processes.identity(2))
  }

  @Test func aLeaseIsReleasedWhenTheResponseEvictsAnother() async throws {
    let test = try await CoalescingTest()
    let store = test.store(1, limits: StoreLimits(maxEntries: 1))
    try await store.write(
      try CacheKey("notes/v1/name=b"), payload: [1],
      metadata: EntryMetadata(test.test.head(), contentType: "text/plain", attributes: [:]))
    #expect(try await fetch(test, over: store).entry.isStored)
    #expect(try await test.entries().map(\.key.text) == ["notes/v1/name=a"])
  }

  @Test func aLeaseIsReleasedWhenTheResponseCannotBeStored() async throws {
    let test = try await CoalescingTest()
    let store = test.store(1, limits: StoreLimits(maxBytes: 2))
    let snapshot = try await fetch(test, over: store)
    #expect(!snapshot.entry.isStored && snapshot.warnings.map(\.error.code) == [.tooLarge])
    #expect(try await test.entries().isEmpty)
  }
}

/// Leases that vanish without a result, as when the leader dies on another machine and the store's server drops its
/// expired lease.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct VanishedLeaseTests {
  private static let processes = 4
  private static let fetchesPerProcess = 5
  private static let request = CitiesRequestDTO(origin: "counting", query: CitiesQuery())

  /// Fetches a page in several processes while a lease keeps all of them waiting, then makes the lease vanish, and
  /// returns the number of requests to the origin.
  private func asks(
    storing answer: CitiesPageDTO? = nil, cacheControl: String = "max-age=60"
  ) async throws -> (asks: Int, answered: Int) {
    let test = try await CoalescingTest()
    let key = try test.test.cities.key(for: Self.request)
    let lease = try await test.leaveLease(key)
    let coalescers = (1...Int32(Self.processes)).map { test.coalescer($0) }
    let origin = CountingOrigin(cacheControl: cacheControl) { asks in
      // Until every other fetch waits, or asks too.
      let pauses = test.time.sleeps.count { $0 < .seconds(1) }
      return coalescers.reduce(asks + pauses) { $0 + $1.waiters(for: key) } >= Self.processes * Self.fetchesPerProcess
    }
    let fetches = coalescers.flatMap { coalescer in
      (0..<Self.fetchesPerProcess).map { _ in fetch(test, origin, coalescer) }
    }
    try await test.expect {
      coalescers.allSatisfy { $0.waiters(for: key) == Self.fetchesPerProcess - 1 }
        && test.time.sleeps.count == Self.processes
    }
    if let answer { try await test.test.cities.store(answer, head: test.test.head(), for: Self.request) }
    try await test.test.engine.remove(lease)
    let isOver = Flag()
    let observer = Task {
      var answered = 0
      for fetch in fetches where await fetch.value { answered += 1 }
      isOver.raise()
      return answered
    }
    _ = await test.passTime { isOver.isRaised }
    // No time passes for them any more if the test was cancelled.
    if Task.isCancelled { for fetch in fetches { fetch.cancel() } }
    return (origin.asks, await observer.value)
  }

  private func fetch(_ test: CoalescingTest, _ origin: CountingOrigin, _ coalescer: RequestCoalescer) -> Task<
    Bool, Never
  > {
    let services = FetchServices(
      rules: HTTPCacheRules(
        freshness: FreshnessPolicy(timeToLive: .seconds(60), staleIfError: .zero, staleWhileRevalidate: .zero)),
      now: { test.test.clock.now.sinceEpoch }, coalescer: coalescer)
    let repository = DefaultCityRepository(storage: test.test.cities, origin: origin, services: services)
    return Task {
      do { for try await _ in repository.cities(CitiesQuery(), options: FetchOptions()) { return true } } catch {}
      return false
    }
  }

  @Test func withoutAResponseOneWaitingCallerMakesTheRequest() async throws {
    let (asks, answered) = try await asks()
    #expect(asks == 1)
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }

  @Test func withAResponseNoCallerMakesARequest() async throws {
    let (asks, answered) = try await asks(storing: CitiesPageDTO(.sample))
    #expect(asks == 0)
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }

  @Test func anAnswerThatMustNotBeStoredKeepsNoCallerWaitingForEver() async throws {
    let (asks, answered) = try await asks(cacheControl: "no-store")
    #expect((1...Self.processes * Self.fetchesPerProcess).contains(asks))
    #expect(answered == Self.processes * Self.fetchesPerProcess)
  }
}

/// An origin that counts its requests, and responds when `isReady` returns `true`.
private final class CountingOrigin: CityOrigin {
  let name = "counting"
  private let cacheControl: String
  private let isReady: @Sendable (_ asks: Int) -> Bool
  private let count = Mutex(0)

  init(cacheControl: String, isReady: @escaping @Sendable (_ asks: Int) -> Bool) {
    self.cacheControl = cacheControl
    self.isReady = isReady
  }

  var asks: Int { count.withLock { $0 } }

  func answer(
    to request: CitiesRequestDTO, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    count.withLock { $0 += 1 }
    while !isReady(asks), !Task.isCancelled { await Task.yield() }
    return OriginAnswer(
      head: HTTP.ResponseHead(status: 200, fields: ["Cache-Control": cacheControl]), response: CitiesPageDTO(.sample))
  }
}
