import CacheData
import CacheDomain
import Testing

struct FetchTests {
  private func repository(_ storage: FakeStorage, _ origin: FakeOrigin) -> DefaultCityRepository {
    DefaultCityRepository(storage: storage, origin: origin, services: .at1000())
  }

  @Test(arguments: FetchPolicy.allCases)
  func everyPolicyDoesWhatItPromises(policy: FetchPolicy) async {
    for row in FetchCase.all where row.policy == policy {
      let log = CallLog()
      let storage = FakeStorage(
        log: log, stored: row.storedResponse, readError: row.readError, writeError: row.writeError)
      let origin = FakeOrigin(log: log) { () async throws(CacheError) in try row.answered() }
      let snapshots = repository(storage, origin).cities(CitiesQuery(), options: row.options)
      #expect(log.all.isEmpty, "\(row): nothing happens before the first snapshot is asked for")
      let outcome = await FetchOutcome(snapshots, log: log)
      #expect(outcome == FetchOutcome(expectedOf: row), "\(row)")
    }
  }

  @Test func theTableIsComplete() {
    #expect(FetchCase.all.count == 4 * 9 * 8 * 6)
  }

  @Test func aSnapshotOfTheOriginCarriesTheFactsOfItsEntry() async throws {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let options = FetchOptions(policy: .networkOnly)
    var iterator = repository(FakeStorage(log: log), origin).cities(CitiesQuery(), options: options)
      .makeAsyncIterator()
    let entry = try #require(try await iterator.next()).entry
    #expect(entry.storedAt == FakeStorage.now && entry.freshUntil == FakeStorage.now + .seconds(60))
    #expect(log.all == [.ask(validator: nil), .write(value: 2, validator: nil)])
  }

  @Test func theOriginOfTheSecondSnapshotIsAskedOnlyForIt() async throws {
    let log = CallLog()
    let row = FetchCase(policy: .cachedThenNetwork, stored: .fresh, answer: .modified, storage: .works)
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in try row.answered() }
    var iterator = repository(FakeStorage(log: log, stored: row.storedResponse), origin)
      .cities(CitiesQuery(), options: row.options).makeAsyncIterator()
    #expect(try await iterator.next()?.value.totalItems == 1)
    #expect(log.all == [.read])
    #expect(try await iterator.next()?.value.totalItems == 2)
    #expect(log.all == [.read, .read, .ask(validator: "v1"), .write(value: 2, validator: "v2")])
  }

  @Test(arguments: FetchPolicy.allCases)
  func aRequestThatCanHaveNoEntryIsNotAsked(policy: FetchPolicy) async {
    let log = CallLog()
    let storage = FakeStorage(log: log, keyError: CacheError(.invalidRequest, "the key would be too long"))
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let snapshots = repository(storage, origin).cities(CitiesQuery(), options: FetchOptions(policy: policy))
    let outcome = await FetchOutcome(snapshots, log: log)
    #expect(outcome.error == .invalidRequest)
    #expect(outcome.items.isEmpty)
    #expect(!outcome.calls.contains(.ask(validator: nil)))
  }

  /// A working cache might have answered: after repairing only the origin, the user would meet the cache's failure
  /// next.
  @Test func theFailureOfTheCacheIsSaidBesideThatOfTheOrigin() async {
    let log = CallLog()
    let row = FetchCase(policy: .cacheFirst, stored: .fresh, answer: .unreachable, storage: .readFails)
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in try row.answered() }
    var iterator = repository(FakeStorage(log: log, readError: row.readError), origin)
      .cities(CitiesQuery(), options: row.options).makeAsyncIterator()
    let error = await #expect(throws: CacheError.self) { _ = try await iterator.next() }
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "the server is away; and the cache could not be read: the entry is damaged")
  }

  @Test func whatIsNotCachedIsNamed() async {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .confirmation }
    var iterator = repository(FakeStorage(log: log), origin)
      .cities(CitiesQuery(), options: FetchOptions(policy: .cacheOnly)).makeAsyncIterator()
    let error = await #expect(throws: CacheError.self) { _ = try await iterator.next() }
    #expect(error?.message.contains("cities/v1/page=0") == true)
  }
}
