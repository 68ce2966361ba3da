import CacheData
import CacheDomain
import Testing

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
      return await FetchOutcome(
        repository.cities(CitiesQuery(), options: FetchOptions(policy: policy)), log: log)
    }
    for await _ in isAsked { task.cancel() }
    let outcome = await task.value
    #expect(outcome.error == .cancelled)
    #expect(outcome.items.count == (policy == .cachedThenNetwork ? 1 : 0))
    #expect(outcome.calls.last == .ask(validator: policy == .networkOnly ? nil : "v1"))
  }

  @Test(arguments: FetchPolicy.allCases)
  func aCancelledTaskDoesNotAskTheOrigin(policy: FetchPolicy) async {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let repository = DefaultCityRepository(
      storage: FakeStorage(log: log, stored: Self.row.storedResponse), origin: origin, services: .at1000())
    let task = Task {
      await Self.waitForCancellation()
      return await FetchOutcome(
        repository.cities(CitiesQuery(), options: FetchOptions(policy: policy)), log: log)
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
