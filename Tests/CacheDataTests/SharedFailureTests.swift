import CacheDomain
import Synchronization
import Testing
@testable import CacheCore
@testable import CacheData
@testable import HTTPCaching

/// Many concurrent fetches from an origin that fails: one asks, and all share its failure.
@Suite(.timeLimit(.minutes(30))) struct SharedFailureTests {
  private static let count = 50

  /// Fetches concurrently. The origin responds to the first request only when all others wait for it.
  private func fetch(
    _ stored: FetchCase.Stored, _ answer: FetchCase.Answer, policy: FetchPolicy = .cacheFirst
  ) async -> (outcomes: [FetchOutcome], asks: Int) {
    let row = FetchCase(policy: policy, stored: stored, answer: answer, storage: .works)
    let (log, coalescer) = (CallLog(), RequestCoalescer())
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in
      let isFirst = log.all.count { $0.isAsk } == 1
      while isFirst, !Task.isCancelled, coalescer.waiters(for: FakeStorage.key) < Self.count - 1 { await Task.yield() }
      return try row.answered()
    }
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: FetchCase.freshness), now: { FakeStorage.now }, coalescer: coalescer)
    let repository = DefaultCityRepository(
      storage: FakeStorage(log: log, stored: row.storedResponse), origin: origin, services: services)
    let outcomes = await withTaskGroup(of: FetchOutcome.self) { group in
      for _ in 0..<Self.count {
        group.addTask { await FetchOutcome(repository.cities(CitiesQuery(), options: row.options), log: CallLog()) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    return (outcomes, log.all.count { $0.isAsk })
  }

  @Test(
    arguments: [FetchCase.Stored.none, .pastStaleIfError],
    [FetchCase.Answer.unreachable, .invalid, .notFound, .badRequest])
  func allCallersFailWithoutAStaleEntry(stored: FetchCase.Stored, answer: FetchCase.Answer) async {
    let row = FetchCase(policy: .cacheFirst, stored: stored, answer: answer, storage: .works)
    let (outcomes, asks) = await fetch(stored, answer)
    #expect(asks == 1)
    #expect(outcomes.count == Self.count)
    #expect(outcomes.allSatisfy { $0.error == row.originError?.code && $0.items.isEmpty })
  }

  /// Another process may have better credentials than the leader.
  @Test func refusedCredentialsConcernTheirCallerAlone() async {
    let (outcomes, asks) = await fetch(.none, .refused)
    #expect(asks == Self.count)
    #expect(outcomes.allSatisfy { $0.error == .originRefused && $0.items.isEmpty })
  }

  @Test(arguments: [FetchCase.Answer.unreachable, .invalid])
  func theStaleEntryIsServedToAll(answer: FetchCase.Answer) async {
    let code: CacheError.Code = answer == .unreachable ? .originUnreachable : .invalidAnswer
    let (outcomes, asks) = await fetch(.stale, answer)
    #expect(asks == 1)
    #expect(outcomes.count == Self.count)
    #expect(outcomes.allSatisfy { $0.error == nil && $0.items.count == 1 })
    #expect(outcomes.allSatisfy { $0.items.first?.isStale == true && $0.items.first?.warnings == [code] })
  }

  @Test func callersThatDemandTheOriginsResponseShareTheFailureToo() async {
    let (outcomes, asks) = await fetch(.stale, .unreachable, policy: .networkOnly)
    #expect(asks == 1)
    #expect(outcomes.allSatisfy { $0.error == .originUnreachable })
  }
}

struct CancellationTests {
  /// How an origin reacts to the cancellation of its task.
  enum Reaction: CaseIterable, Sendable {
    case saysSo, saysUnreachable, saysInvalid, answersAllTheSame, confirmsAllTheSame

    func answer() throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
      switch self {
      case .saysSo: throw .cancelled
      case .saysUnreachable: throw CacheError(.originUnreachable, "the connection was closed")
      case .saysInvalid: throw CacheError(.invalidAnswer, "the answer ends too early")
      case .answersAllTheSame: return .whole(CitiesPageDTO(value: 2))
      case .confirmsAllTheSame: return .confirmation
      }
    }
  }

  private static let row = FetchCase(policy: .cacheFirst, stored: .stale, answer: .modified, storage: .works)

  @Test(arguments: [FetchPolicy.cacheFirst, .cachedThenNetwork, .networkOnly], Reaction.allCases)
  func cancellingTheTaskCancelsTheRequest(policy: FetchPolicy, reaction: Reaction) async {
    let log = CallLog()
    let (isAsked, asked) = AsyncStream<Void>.makeStream()
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in
      asked.yield()
      await Self.waitForCancellation()
      return try reaction.answer()
    }
    let repository = DefaultCityRepository(
      storage: FakeStorage(log: log, stored: Self.row.storedResponse), origin: origin, services: .at1000())
    let task = Task {
      defer { asked.finish() }
      return await FetchOutcome(repository.cities(CitiesQuery(), options: FetchOptions(policy: policy)), log: log)
    }
    for await _ in isAsked { task.cancel() }
    let outcome = await task.value
    #expect(outcome.error == .cancelled)
    #expect(outcome.items.count == (policy == .cachedThenNetwork ? 1 : 0))
    #expect(outcome.calls.last == .ask(validator: policy == .networkOnly ? nil : "v1"))
  }

  @Test(arguments: FetchPolicy.allCases) func aCancelledTaskDoesNotAskTheOrigin(policy: FetchPolicy) async {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let repository = DefaultCityRepository(
      storage: FakeStorage(log: log, stored: Self.row.storedResponse), origin: origin, services: .at1000())
    let task = Task {
      await Self.waitForCancellation()
      return await FetchOutcome(repository.cities(CitiesQuery(), options: FetchOptions(policy: policy)), log: log)
    }
    task.cancel()
    let outcome = await task.value
    #expect(outcome.error == .cancelled)
    #expect(outcome.calls.isEmpty)
  }

  private static func waitForCancellation() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    continuation.finish()
  }
}

/// A call that a fetch has made, in a form for tables.
enum Call: Hashable, Sendable {
  case read
  case write(value: Int, validator: String?)
  case ask(validator: String?)
  case remove

  var isAsk: Bool { if case .ask = self { true } else { false } }
}

/// The calls of a fetch, in order.
final class CallLog: Sendable {
  private let calls = Mutex<[Call]>([])

  var all: [Call] { calls.withLock { $0 } }

  func add(_ call: Call) { calls.withLock { $0.append(call) } }
}

/// Pages that carry a number, by which a test identifies them.
extension CitiesPageDTO {
  init(value: Int) { self.init(CitiesPage(page: 0, totalPages: 1, totalItems: value, cities: [])) }

  var value: Int { toDomain().totalItems }
}

/// A storage at second 1,000 that holds one response or none, and fails on demand.
struct FakeStorage: CityResponseStorage {
  static let now = Duration.seconds(1_000)

  let log: CallLog
  var stored: StoredResponse<CitiesPageDTO>?
  var readError: CacheError?
  var writeError: CacheError?
  var keyError: CacheError?

  func response(
    for request: CitiesRequestDTO, isCounted: Bool
  ) async throws(CacheError) -> StoredResponse<CitiesPageDTO>? {
    log.add(.read)
    if let error = readError ?? keyError { throw error }
    return stored
  }

  func store(
    _ response: CitiesPageDTO, head: StoredHead, for request: CitiesRequestDTO,
    confirming confirmed: StoredResponse<CitiesPageDTO>?, token: CoalescingToken?
  ) async throws(CacheError) {
    log.add(.write(value: response.value, validator: head.head.fields["etag"]))
    if let writeError { throw writeError }
  }

  func remove(_ request: CitiesRequestDTO) async throws(CacheError) { log.add(.remove) }

  func key(for request: CitiesRequestDTO) throws(CacheError) -> String {
    if let keyError { throw keyError }
    return Self.key
  }

  static let key = "cities/v1/page=0"
}

extension FetchServices {
  /// Services at second 1,000, with `freshness` for responses without a lifetime.
  static func at1000(_ freshness: FreshnessPolicy = FetchCase.freshness) -> FetchServices {
    FetchServices(rules: HTTPCacheRules(freshness: freshness), now: { FakeStorage.now })
  }
}

extension OriginAnswer {
  /// A complete response with the entity tag `tag`.
  static func whole(_ response: Response, tag: String? = nil) -> OriginAnswer {
    OriginAnswer(head: HTTP.ResponseHead(status: 200, fields: tag.map { ["ETag": $0] } ?? [:]), response: response)
  }

  /// A confirmation of the stored response.
  static var confirmation: OriginAnswer { OriginAnswer(head: HTTP.ResponseHead(status: 304), response: nil) }
}

/// An origin that behaves as the test says.
struct FakeOrigin: CityOrigin {
  let name = "fake"
  let log: CallLog
  let behaviour: @Sendable () async throws(CacheError) -> OriginAnswer<CitiesPageDTO>

  func answer(
    to request: CitiesRequestDTO, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    log.add(.ask(validator: conditions["if-none-match"]))
    return try await behaviour()
  }
}
