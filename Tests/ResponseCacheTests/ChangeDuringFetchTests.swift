import EngineAPI
import HTTPCaching
import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import Testing
@testable import CacheCore

/// A response that is fetched during a change is neither stored nor given to callers who come after the change.
@Suite(.timeLimit(.minutes(30))) struct ChangeDuringFetchTests {
  private let clock = ManualClock()

  private func processes(_ origin: StagedOrigin, isShared: Bool) async throws -> (ChangedProcess, ChangedProcess) {
    let engine = try await StorageLocation.memory.open(clock: clock)
    return (
      try ChangedProcess(engine, clock, origin, isShared: isShared),
      try ChangedProcess(engine, clock, origin, isShared: isShared)
    )
  }

  /// Starts the read of `row` in `process`, and returns its task once it waits for the origin, and the request's number.
  private func start(
    _ row: ChangeCase, _ process: ChangedProcess, _ origin: StagedOrigin
  ) async throws -> (Task<[Int], any Error>, number: Int) {
    if row.read != .first {
      origin.answer(1)
      _ = try await process.fetch(row.subject)
    }
    switch row.read {
    case .first, .cachedThenNetwork, .networkOnly: clock.advance(by: .seconds(1))
    case .background: clock.advance(by: .seconds(150))
    case .revalidation, .confirmation: clock.advance(by: .seconds(5_000))
    }
    let policy: FetchPolicy =
      switch row.read {
      case .cachedThenNetwork: .cachedThenNetwork
      case .networkOnly: .networkOnly
      default: .cacheFirst
      }
    let number = origin.count + 1
    let reading = Task { try await process.fetch(row.subject, policy) }
    await origin.arrival(of: number)
    return (reading, number)
  }

  @Test(arguments: ChangeCase.all) func itIsNotStoredAndLaterCallersAskAgain(row: ChangeCase) async throws {
    let origin = StagedOrigin(confirms: row.read == .confirmation)
    let (here, other) = try await processes(origin, isShared: row.place != .here)
    let (reading, number) = try await start(row, here, origin)
    try await (row.place == .elsewhere ? other : here).make(row.change)
    // A process that shares the request learns of another process's change when the request ends.
    let later = Task { try await here.fetch(row.subject, .networkOnly) }
    if row.place == .elsewhere {
      let elsewhere = Task { try await other.fetch(row.subject, .networkOnly) }
      await origin.arrival(of: number + 1)
      origin.answer(number)
      _ = try await reading.value
      origin.answer(number + 1)
      origin.answer(number + 2)
      #expect(try await elsewhere.value.last ?? 0 > number)
    } else {
      await origin.arrival(of: number + 1)
      origin.answer(number)
      _ = try await reading.value
      await here.cache.services.background.finish()
      #expect(try await !here.hasFresh(row.subject))
      origin.answer(number + 1)
    }
    #expect(try await later.value.last ?? 0 > number)
    #expect(try await here.hasFresh(row.subject))
    #expect(try await here.fetch(row.subject).last ?? 0 > number)
  }

  /// The late response must not replace the one that was requested after the change.
  @Test(arguments: ChangeCase.all.filter { $0.read == .networkOnly })
  func itDoesNotReplaceALaterResponse(row: ChangeCase) async throws {
    let origin = StagedOrigin()
    let (here, other) = try await processes(origin, isShared: row.place != .here)
    let (reading, number) = try await start(row, here, origin)
    let changing = row.place == .elsewhere ? other : here
    try await changing.make(row.change)
    origin.answer(number + 1)
    #expect(try await changing.fetch(row.subject, .networkOnly) == [number + 1])
    origin.answer(number)
    #expect(try await reading.value == [number])
    #expect(try await here.fetch(row.subject) == [number + 1])
    #expect(origin.count == number + 1)
  }

  /// A HEAD from before the change does not make the response fresh again.
  @Test(arguments: [true, false]) func aHeadUpdatesNothingThatWasChanged(isShared: Bool) async throws {
    let (origin, server) = (StagedOrigin(), SteadyServer())
    let (here, _) = try await processes(origin, isShared: isShared)
    server.origin.answer(1)
    _ = try await here.cache.response(to: HTTP.Request(url: ChangedProcess.url), over: server)
    #expect(try await here.hasFresh(.url))
    let request = HTTP.Request(method: "HEAD", url: ChangedProcess.url)
    let reading = Task { try await here.cache.response(to: request, over: server, policy: .networkOnly) }
    await server.origin.arrival(of: 2)
    try await here.make(.select(EntrySelection(), isSoft: true))
    server.origin.answer(2)
    _ = try await reading.value
    #expect(try await !here.hasFresh(.url))
  }

  /// The caller learns that the response is not stored, and why, without a warning.
  @Test(arguments: [true, false]) func theSnapshotSaysThatItWasChanged(isShared: Bool) async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: isShared)
    let reading = Task {
      var snapshots = here.numbers.snapshots(for: "a").makeAsyncIterator()
      return try await snapshots.next()
    }
    await origin.arrival(of: 1)
    try await here.numbers.invalidate("a")
    origin.answer(1)
    let snapshot = try #require(try await reading.value)
    #expect(!snapshot.entry.isStored && snapshot.entry.refusal == "it was changed while it was fetched")
    #expect(snapshot.warnings.isEmpty)
  }

  /// Callers who joined before the change get the response that was arriving, with one request.
  @Test func callersFromBeforeTheChangeShareTheResponse() async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: false)
    let first = Task { try await here.numbers("a") }
    await origin.arrival(of: 1)
    let second = Task { try await here.numbers("a") }
    try await here.waiters(1)
    try await here.numbers.invalidate("a")
    origin.answer(1)
    #expect(try await [first.value, second.value] == [1, 1])
    #expect(origin.count == 1)
  }

  /// A stale entry that may be served during its revalidation is revalidated again if it was changed meanwhile.
  @Test(arguments: [ChangeCase.Subject.resource, .url])
  func aRevalidationFromBeforeTheChangeDoesNotStandForOneAfterIt(subject: ChangeCase.Subject) async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: false)
    origin.answer(1)
    _ = try await here.fetch(subject)
    clock.advance(by: .seconds(150))
    #expect(try await here.fetch(subject) == [1])
    await origin.arrival(of: 2)
    #expect(try await here.fetch(subject) == [1])
    try await here.make(.select(EntrySelection(), isSoft: true))
    #expect(try await here.fetch(subject) == [1])
    await origin.arrival(of: 3)
    origin.answer(3)
    try await becomes { try await here.hasFresh(subject) }
    origin.answer(2)
    await here.cache.services.background.finish()
    #expect(try await here.fetch(subject) == [3])
    #expect(origin.count == 3)
  }

  /// Another entry's request has nothing to do with it.
  @Test(arguments: [
    ChangeCase.Change.select(EntrySelection(namespace: "other"), isSoft: false),
    .select(EntrySelection(prefix: "numbers/v1/query=b"), isSoft: false),
    .select(EntrySelection(pattern: GlobPattern("*=b*")), isSoft: true),
    .select(EntrySelection(state: .expired), isSoft: false), .select(EntrySelection(state: .stale), isSoft: false),
    .select(EntrySelection(minimumAge: .seconds(3_600)), isSoft: false), .post, .removeResponses,
  ])
  func aChangeOfSomethingElseLetsItBeStored(change: ChangeCase.Change) async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: true)
    let first = Task { try await here.numbers("a") }
    await origin.arrival(of: 1)
    try await here.make(change)
    origin.answer(1)
    #expect(try await first.value == 1)
    #expect(try await here.numbers("a") == 1)
    #expect(origin.count == 1)
  }

  /// A removal that is conditional on the state ends the requests for the removed entries.
  @Test(arguments: [EntrySelection(state: .stale), EntrySelection(minimumAge: .seconds(10))])
  func aConditionalRemovalEndsTheRequestsForRemovedEntries(selection: EntrySelection) async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: true)
    origin.answer(1)
    _ = try await here.numbers("a")
    clock.advance(by: .seconds(5_000))
    let first = Task { try await here.numbers("a") }
    await origin.arrival(of: 2)
    try await here.make(.select(selection, isSoft: false))
    origin.answer(2)
    #expect(try await first.value == 2)
    #expect(try await !here.hasFresh(.resource))
  }

  /// A part of a response is kept to be continued later, but not if it was changed meanwhile.
  @Test(arguments: [true, false]) func aPartThatArrivedBeforeTheChangeIsNotKept(isChanged: Bool) async throws {
    let (origin, server) = (StagedOrigin(), PartialServer())
    let (here, _) = try await processes(origin, isShared: true)
    let request = HTTP.Request(url: ChangedProcess.url)
    let reading = Task { try await here.cache.response(to: request, over: server) }
    await server.origin.arrival(of: 1)
    if isChanged { try await here.make(.post) }
    server.origin.answer(1)
    await #expect(throws: CacheError.self) { try await reading.value }
    #expect(try await here.cache.statistics().entries == (isChanged ? 0 : 1))
  }

  /// A dry run changes nothing.
  @Test(arguments: [true, false]) func aDryRunLetsItBeStored(isSoft: Bool) async throws {
    let origin = StagedOrigin()
    let (here, _) = try await processes(origin, isShared: true)
    let first = Task { try await here.numbers("a") }
    await origin.arrival(of: 1)
    let administration = StoreAdministration(here.cache.store)
    if isSoft { _ = try await administration.change(.makeStale, EntrySelection(), dryRun: true) }
    if !isSoft { _ = try await administration.change(.remove, EntrySelection(), dryRun: true) }
    origin.answer(1)
    _ = try await first.value
    #expect(try await here.hasFresh(.resource))
  }
}

extension ChangedProcess {
  /// Returns once `count` callers wait for the request of the resource.
  func waiters(_ count: Int) async throws {
    let coalescer = cache.services.coalescer
    try await becomes { coalescer.waiters(for: "numbers/v1/query=a/version=1") >= count }
  }
}

/// A server whose response stays the same.
private struct SteadyServer: DataTransferService {
  let origin = StagedOrigin()

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    _ = await origin.request()
    let fields: HTTP.Fields = ["Cache-Control": "max-age=100", "ETag": "\"1\""]
    return HTTP.Response(HTTP.ResponseHead(status: 200, fields: fields))
  }
}

/// A server that breaks off in the middle of its content.
private struct PartialServer: DataTransferService {
  let origin = StagedOrigin()

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    _ = await origin.request()
    let fields: HTTP.Fields = ["Content-Length": "10", "Cache-Control": "max-age=60", "ETag": "\"1\""]
    let response = HTTP.Response(HTTP.ResponseHead(status: 200, fields: fields), body: [1, 2, 3])
    throw CacheError(.originUnreachable, "it broke off", cause: IncompleteResponse(response))
  }
}

/// One of the processes that use a store: a cache over its engine, and a fetch through it.
struct ChangedProcess: Sendable {
  static let url = "http://server.example/a"

  let cache: Cache
  let numbers: Resource<String, Int>
  private let origin: StagedOrigin

  /// - Parameter isShared: whether other processes can see its coalescer.
  init(_ engine: any StorageEngine, _ clock: ManualClock, _ origin: StagedOrigin, isShared: Bool) throws {
    let leases = LeaseOptions { pause in
      // Leases do not run out, and waiting for one takes no time.
      if pause >= .seconds(1) {
        let (never, source) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        source.finish()
      }
      await Task.yield()
      try Task.checkCancellation()
    }
    let store = EntryStore(engine: engine, clock: clock, leases: isShared ? leases : nil)
    cache = Cache(
      store: store,
      services: FetchServices(
        rules: HTTPCacheRules(freshness: .standard), now: { clock.now.sinceEpoch }, coalescer: store.coalescer),
      warn: { _ in })
    numbers = try cache.resource(
      "numbers", freshFor: .seconds(100), staleIfError: .seconds(10_000), staleWhileRevalidate: .seconds(1_000)
    ) { (_: String) in await origin.request() }
    self.origin = origin
  }

  /// Fetches, and returns the numbers of the responses.
  func fetch(_ subject: ChangeCase.Subject, _ policy: FetchPolicy = .cacheFirst) async throws -> [Int] {
    var found: [Int] = []
    switch subject {
    case .resource:
      for try await snapshot in numbers.snapshots(for: "a", policy: policy) { found.append(snapshot.value) }
    case .url:
      let responses = cache.responses(to: HTTP.Request(url: Self.url), over: origin, policy: policy)
      for try await snapshot in responses {
        found.append(Int(String(decoding: snapshot.value.response.body, as: UTF8.self)) ?? 0)
      }
    }
    return found
  }

  /// Whether a fetch would be served from the store, as fresh.
  func hasFresh(_ subject: ChangeCase.Subject) async throws -> Bool {
    let explanation =
      switch subject {
      case .resource: try await numbers.snapshots(for: "a").explanation()
      case .url: try await cache.responses(to: HTTP.Request(url: Self.url), over: origin).explanation()
      }
    return explanation.decision.action == .serve
  }

  func make(_ change: ChangeCase.Change) async throws {
    let administration = StoreAdministration(cache.store)
    switch change {
    case .invalidate: try await numbers.invalidate("a")
    case .remove: try await numbers.remove("a")
    case .invalidateAll: try await numbers.invalidateAll()
    case .removeAll: try await numbers.removeAll()
    case .clear: try await cache.removeAll()
    case .removeResponses: try await cache.removeResponses(to: Self.url)
    case .post: try await send("POST", to: Self.url)
    case .delete: try await send("DELETE", to: Self.url)
    case .location: try await send("POST", to: "http://server.example/b", naming: "Location")
    case .contentLocation: try await send("PUT", to: "http://server.example/b", naming: "Content-Location")
    case .select(let selection, let isSoft):
      if isSoft { _ = try await administration.change(.makeStale, selection, dryRun: false) }
      if !isSoft { _ = try await administration.change(.remove, selection, dryRun: false) }
    }
  }

  private func send(_ method: String, to url: String, naming field: String? = nil) async throws {
    var fields: HTTP.Fields = [:]
    if let field { fields.append(field, "/a") }
    let server = FakeOrigin { [fields] (_: HTTP.Request) in
      HTTP.Response(HTTP.ResponseHead(status: 201, fields: fields))
    }
    _ = try await cache.response(to: HTTP.Request(method: method, url: url), over: server)
  }
}

/// A change during a read.
struct ChangeCase: Sendable, CustomTestStringConvertible {
  enum Subject: Sendable { case resource, url }
  enum Read: CaseIterable, Sendable {
    case first, revalidation, confirmation, background, cachedThenNetwork, networkOnly
  }
  /// The process that makes the change: the process of the read, which may use leases, or another one.
  enum Place: CaseIterable, Sendable { case here, hereWithLeases, elsewhere }
  enum Change: Sendable {
    case invalidate, remove, invalidateAll, removeAll, clear, removeResponses, post, delete, location, contentLocation
    case select(EntrySelection, isSoft: Bool)
  }

  let subject: Subject
  let read: Read
  let place: Place
  let change: Change

  var testDescription: String { "\(subject), \(read), \(place), \(change)" }

  static let all: [ChangeCase] = [Subject.resource, .url].flatMap { subject in
    Read.allCases.filter { $0 != .confirmation || subject == .url }.flatMap { read in
      Place.allCases.flatMap { place in
        changes(of: subject).map { ChangeCase(subject: subject, read: read, place: place, change: $0) }
      }
    }
  }

  private static func changes(of subject: Subject) -> [Change] {
    let namespace = subject == .resource ? "numbers" : "url"
    let selections = [
      EntrySelection(), EntrySelection(namespace: namespace), EntrySelection(prefix: "\(namespace)/v1/"),
      EntrySelection(pattern: GlobPattern("\(namespace)/*")), EntrySelection(pattern: GlobPattern("*=a*")),
      EntrySelection(pattern: GlobPattern("*a*"), state: .fresh),
    ]
    // `*=a*` matches the key of the resource, and not the key of the URL.
    let selected = selections.filter { subject == .resource || $0.pattern?.text != "*=a*" }
    let general = [Change.clear] + selected.flatMap { [.select($0, isSoft: false), .select($0, isSoft: true)] }
    switch subject {
    case .resource: return general + [.invalidate, .remove, .invalidateAll, .removeAll]
    case .url: return general + [.removeResponses, .post, .delete, .location, .contentLocation]
    }
  }
}
