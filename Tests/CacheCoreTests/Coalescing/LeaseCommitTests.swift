@testable import CacheCore
import FetchVocabulary
@testable import HTTPCaching
import EngineConformance
import EngineAPI
import TestStorage
import Testing

/// A miss makes two commits: one takes the lease, the other stores the answer and gives the lease back.
@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30))) struct LeaseCommitTests {
  private struct Request: CacheableRequest {
    static let resource = "notes"
    var parameters: [(name: String, value: String)] { [("name", "a")] }
  }

  /// An origin that does other work before it answers.
  private struct Origin: ResponseOrigin, DataTransferService {
    var meanwhile: @Sendable () async throws -> Void = {}
    let name = "origin"

    func answer(to request: Request, conditions: HTTPFields) async throws(CacheError) -> OriginAnswer<[UInt8]> {
      do { try await meanwhile() } catch { throw CacheError(.originUnreachable, "\(error)") }
      return OriginAnswer(head: HTTPResponseHead(status: 200), response: [1, 2, 3])
    }

    func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
      HTTPResponse(HTTPResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"]), body: [1, 2, 3])
    }
  }

  private static let codec = PayloadCodec<[UInt8]>(
    "bytes", encode: { bytes in (bytes, "text/plain") },
    decode: { bytes, _, _ in bytes.withUnsafeBufferPointer { Array($0) } })

  private func services(_ test: CoalescingTest, _ store: EntryStore) -> FetchServices {
    FetchServices(
      rules: HTTPCacheRules(freshness: .standard), now: { test.test.clock.now.sinceEpoch },
      coalescer: store.coalescer)
  }

  /// Fetches a note over `store`, by default that of `test`.
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
    let cache = HTTPCache(
      responses: URLResponses(store: store), transfer: Origin(), services: services(test, store))
    for try await _ in cache.responses(to: HTTPRequest(url: "http://a.example/"), options: FetchOptions()) {}
    #expect(test.test.engine.batches.count == 2)
    #expect(try await test.entries().map(\.key.namespace) == ["url"])
  }

  @Test func anAnswerIsNotStoredIfAnotherProcessHasTakenTheLease() async throws {
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

  @Test func aLeaseIsGivenBackWhenTheAnswerIsStoredInTheRoomOfAnother() async throws {
    let test = try await CoalescingTest()
    let store = test.store(1, limits: StoreLimits(maxEntries: 1))
    try await store.write(
      try CacheKey("notes/v1/name=b"), payload: [1],
      metadata: EntryMetadata(test.test.head(), contentType: "text/plain", attributes: [:]))
    #expect(try await fetch(test, over: store).entry.isStored)
    #expect(try await test.entries().map(\.key.text) == ["notes/v1/name=a"])
  }

  @Test func aLeaseIsGivenBackWhenTheAnswerCannotBeStored() async throws {
    let test = try await CoalescingTest()
    let store = test.store(1, limits: StoreLimits(maxBytes: 2))
    let snapshot = try await fetch(test, over: store)
    #expect(!snapshot.entry.isStored && snapshot.warnings.map(\.code) == [.tooLarge])
    #expect(try await test.entries().isEmpty)
  }
}
