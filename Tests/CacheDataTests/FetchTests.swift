import CacheData
import CacheDomain
import FetchVocabulary
import Testing

struct FetchTests {
  private func repository(_ storage: FakeStorage, _ origin: FakeOrigin) -> DefaultCityRepository {
    DefaultCityRepository(storage: storage, origin: origin, services: .at1000())
  }

  @Test(arguments: FetchPolicy.allCases) func everyPolicyKeepsItsPromise(policy: FetchPolicy) async {
    for row in FetchCase.all where row.policy == policy {
      let log = CallLog()
      let storage = FakeStorage(
        log: log, stored: row.storedResponse, readError: row.readError, writeError: row.writeError)
      let origin = FakeOrigin(log: log) { () async throws(CacheError) in try row.answered() }
      let snapshots = repository(storage, origin).cities(CitiesQuery(), options: row.options)
      #expect(log.all.isEmpty, "\(row): nothing happens before the first snapshot is requested")
      let outcome = await FetchOutcome(snapshots, log: log)
      #expect(outcome == FetchOutcome(expectedOf: row), "\(row)")
    }
  }

  @Test func theTableIsComplete() { #expect(FetchCase.all.count == 4 * 9 * 8 * 6) }

  @Test func aSnapshotOfTheOriginCarriesTheFactsOfItsEntry() async throws {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let options = FetchOptions(policy: .networkOnly)
    var iterator = repository(FakeStorage(log: log), origin).cities(CitiesQuery(), options: options).makeAsyncIterator()
    let entry = try #require(try await iterator.next()).entry
    #expect(entry.storedSinceEpoch == FakeStorage.now && entry.freshUntilSinceEpoch == FakeStorage.now + .seconds(60))
    #expect(log.all == [.ask(validator: nil), .write(value: 2, validator: nil)])
  }

  @Test func theOriginGetsARequestOnlyForTheSecondSnapshot() async throws {
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

  @Test(arguments: FetchPolicy.allCases) func aRequestThatCanHaveNoEntryIsNotAsked(policy: FetchPolicy) async {
    let log = CallLog()
    let storage = FakeStorage(log: log, keyError: CacheError(.invalidRequest, "the key would be too long"))
    let origin = FakeOrigin(log: log) { .whole(CitiesPageDTO(value: 2)) }
    let snapshots = repository(storage, origin).cities(CitiesQuery(), options: FetchOptions(policy: policy))
    let outcome = await FetchOutcome(snapshots, log: log)
    #expect(outcome.error == .invalidRequest)
    #expect(outcome.items.isEmpty)
    #expect(!outcome.calls.contains(.ask(validator: nil)))
  }

  /// A working cache might have had the response: after repairing only the origin, the user would meet the cache's
  /// failure next.
  @Test func theFailuresOfCacheAndOriginAreReportedTogether() async {
    let log = CallLog()
    let row = FetchCase(policy: .cacheFirst, stored: .fresh, answer: .unreachable, storage: .readFails)
    let origin = FakeOrigin(log: log) { () async throws(CacheError) in try row.answered() }
    var iterator = repository(FakeStorage(log: log, readError: row.readError), origin)
      .cities(CitiesQuery(), options: row.options).makeAsyncIterator()
    let error = await #expect(throws: CacheError.self) { _ = try await iterator.next() }
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "the server is away; and the cache could not be read: the entry is damaged")
  }

  @Test func uncachedItemsAreNamed() async {
    let log = CallLog()
    let origin = FakeOrigin(log: log) { .confirmation }
    var iterator = repository(FakeStorage(log: log), origin)
      .cities(CitiesQuery(), options: FetchOptions(policy: .cacheOnly)).makeAsyncIterator()
    let error = await #expect(throws: CacheError.self) { _ = try await iterator.next() }
    #expect(error?.message.contains("cities/v1/page=0") == true)
  }
}

/// One row of the table of fetch tests: the request, and the behavior of storage and origin.
struct FetchCase: Sendable, CustomStringConvertible {
  /// The entry in the storage; times are relative to the fetch.
  enum Stored: CaseIterable, Sendable {
    case none, fresh, tooOld, stale, withinMaxStale, atMaxStale, pastMaxStale, tooOldWithinMaxStale, pastStaleIfError
  }

  enum Answer: CaseIterable, Sendable {
    case modified, notModified, unreachable, invalid, refused, notFound, badRequest, cancelled
  }

  enum Storage: CaseIterable, Sendable { case works, readFails, writeFails, bothFail, readCancelled, writeCancelled }

  static let freshness = FreshnessPolicy(
    timeToLive: .seconds(60), staleIfError: .seconds(300), staleWhileRevalidate: .zero)

  let policy: FetchPolicy
  let stored: Stored
  let answer: Answer
  let storage: Storage

  var description: String { "\(policy), \(stored), \(answer), \(storage)" }

  static let all: [FetchCase] = FetchPolicy.allCases.flatMap { policy in
    Stored.allCases.flatMap { stored in
      Answer.allCases.flatMap { answer in
        Storage.allCases.map { FetchCase(policy: policy, stored: stored, answer: answer, storage: $0) }
      }
    }
  }

  var options: FetchOptions {
    switch stored {
    case .none, .fresh, .stale, .pastStaleIfError: FetchOptions(policy: policy)
    case .tooOld: FetchOptions(policy: policy, maxAge: .seconds(29))
    case .withinMaxStale: FetchOptions(policy: policy, maxStale: .seconds(31))
    case .atMaxStale: FetchOptions(policy: policy, maxStale: .seconds(30))
    case .pastMaxStale: FetchOptions(policy: policy, maxStale: .seconds(29))
    case .tooOldWithinMaxStale: FetchOptions(policy: policy, maxAge: .seconds(20), maxStale: .seconds(10))
    }
  }

  /// The stored response, stored 30 seconds ago and still fresh, or stale for 30 or 300 seconds.
  var storedResponse: StoredResponse<CitiesPageDTO>? {
    let age: Duration
    switch stored {
    case .none: return nil
    case .fresh, .tooOld, .tooOldWithinMaxStale: age = .seconds(30)
    case .stale, .withinMaxStale, .atMaxStale, .pastMaxStale: age = .seconds(90)
    case .pastStaleIfError: age = .seconds(360)
    }
    let storedAt = FakeStorage.now - age
    let head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["etag": "v1"]), storedAt: storedAt,
      freshUntil: storedAt + Self.freshness.timeToLive, retainUntil: storedAt + .seconds(3_600))
    return StoredResponse(key: FakeStorage.key, response: CitiesPageDTO(value: 1), head: head)
  }

  var readError: CacheError? {
    switch storage {
    case .readFails, .bothFail: CacheError(.damaged, "the entry is damaged")
    case .readCancelled: .cancelled
    case .works, .writeFails, .writeCancelled: nil
    }
  }

  var writeError: CacheError? {
    switch storage {
    case .writeFails, .bothFail: CacheError(.noSpace, "the disk is full")
    case .writeCancelled: .cancelled
    case .works, .readFails, .readCancelled: nil
    }
  }

  var originError: CacheError? {
    switch answer {
    case .modified, .notModified: nil
    case .unreachable: CacheError(.originUnreachable, "the server is away")
    case .invalid: CacheError(.invalidAnswer, "that is no JSON")
    case .refused: CacheError(.originRefused, "the key is wrong")
    case .notFound: CacheError(.notFound, "there is none")
    case .badRequest: CacheError(.invalidRequest, "there is no page -1")
    case .cancelled: .cancelled
    }
  }

  func answered() throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    if let originError { throw originError }
    return answer == .modified ? .whole(CitiesPageDTO(value: 2), tag: "v2") : .confirmation
  }
}

/// The outcome of a fetch, as far as the table covers it.
struct FetchOutcome: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var value: Int
    var source: Snapshot<CitiesPage>.Source
    var isRevalidated = false
    var isStale = false
    var warnings: [CacheError.Code] = []
  }

  var items: [Item] = []
  var error: CacheError.Code?
  var calls: [Call] = []

  /// The outcome of iterating over `snapshots` to the end.
  init(_ snapshots: Snapshots<CitiesPage>, log: CallLog) async {
    do throws(CacheError) {
      var iterator = snapshots.makeAsyncIterator()
      while let snapshot = try await iterator.next() {
        items.append(
          Item(
            value: snapshot.value.totalItems, source: snapshot.source, isRevalidated: snapshot.isRevalidated,
            isStale: snapshot.entry.isStale, warnings: snapshot.warnings.map(\.error.code)))
      }
    } catch { self.error = error.code }
    calls = log.all
  }

  /// The outcome that the documentation promises for `row`, derived from its words rather than from the code.
  init(expectedOf row: FetchCase) {
    if row.policy == .networkOnly {
      ask(row, found: nil)
      return
    }
    calls = [.read]
    let found = row.readError == nil ? row.storedResponse : nil
    if let code = row.readError?.code, row.policy == .cacheOnly || code == .cancelled {
      error = code
    } else if row.policy == .cacheOnly {
      if found != nil, row.stored != .pastMaxStale { items = [Self.cached(row)] } else { error = .notCached }
    } else if row.policy == .cacheFirst, found != nil, Self.satisfies(row.stored) {
      items = [Self.cached(row)]
    } else {
      if row.policy == .cachedThenNetwork, found != nil, row.stored != .pastMaxStale { items = [Self.cached(row)] }
      ask(row, found: found)
    }
  }

  private static func satisfies(_ stored: FetchCase.Stored) -> Bool {
    switch stored {
    case .fresh, .withinMaxStale, .atMaxStale, .tooOldWithinMaxStale: true
    case .none, .tooOld, .stale, .pastMaxStale, .pastStaleIfError: false
    }
  }

  private static func cached(_ row: FetchCase) -> Item {
    Item(value: 1, source: .cache, isStale: ![.fresh, .tooOld, .tooOldWithinMaxStale].contains(row.stored))
  }

  private mutating func ask(_ row: FetchCase, found: StoredResponse<CitiesPageDTO>?) {
    // The leader looks again: another fetch may have finished meanwhile.
    if row.policy != .networkOnly { calls.append(.read) }
    calls.append(.ask(validator: found?.head.head.fields["etag"]))
    let warnings = row.policy == .networkOnly ? [] : [row.readError?.code].compactMap(\.self)
    switch (row.answer, found) {
    case (.modified, _): write(Item(value: 2, source: .origin, warnings: warnings), validator: "v2", row)
    case (.notModified, .some):
      write(Item(value: 1, source: .cache, isRevalidated: true, warnings: warnings), validator: "v1", row)
    case (.notModified, nil): error = .invalidAnswer
    case (.unreachable, .some), (.invalid, .some): serveStale(row)
    case (.unreachable, nil), (.invalid, nil), (.refused, _), (.notFound, _), (.badRequest, _), (.cancelled, _):
      // The origin has nothing any more, so the cache must not show it either.
      if row.answer == .notFound { calls.append(.remove) }
      error = row.originError?.code
    }
  }

  private mutating func write(_ item: Item, validator: String, _ row: FetchCase) {
    calls.append(.write(value: item.value, validator: validator))
    if row.writeError?.code == .cancelled {
      error = .cancelled
      return
    }
    var item = item
    item.warnings += [row.writeError?.code].compactMap(\.self)
    // The response that cannot be stored has replaced the entry all the same.
    if row.writeError != nil, row.answer == .modified { calls.append(.remove) }
    items.append(item)
  }

  private mutating func serveStale(_ row: FetchCase) {
    guard row.stored != .pastStaleIfError, row.stored != .pastMaxStale else {
      error = row.originError?.code
      return
    }
    var item = Self.cached(row)
    item.warnings = [row.originError?.code].compactMap(\.self)
    items.append(item)
  }
}
