@testable import CacheCore
import HTTPCaching
import ResponseCache
import ResponseCacheTesting
import EngineAPI
import Testing

/// One of the processes that use a store: a cache over its engine, and what is fetched through it.
struct ChangedProcess: Sendable {
  static let url = "http://server.example/a"

  let cache: Cache
  let numbers: Resource<String, Int>
  private let origin: StagedOrigin

  /// - Parameter isShared: whether other processes can see its coalescer.
  init(_ engine: any StorageEngine, _ clock: ManualClock, _ origin: StagedOrigin, isShared: Bool) {
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
        rules: HTTPCacheRules(freshness: .standard), now: { clock.now.sinceEpoch },
        coalescer: store.coalescer),
      warn: { _ in })
    numbers = cache.resource(
      "numbers", freshFor: .seconds(100), staleIfError: .seconds(10_000), staleWhileRevalidate: .seconds(1_000)
    ) { (_: String) in await origin.request() }
    self.origin = origin
  }

  /// Fetches, and returns the numbers of the answers.
  func fetch(_ subject: ChangeCase.Subject, _ policy: FetchPolicy = .cacheFirst) async throws -> [Int] {
    var found: [Int] = []
    switch subject {
    case .resource:
      for try await snapshot in numbers.snapshots(for: "a", policy: policy) { found.append(snapshot.value) }
    case .url:
      let responses = cache.responses(to: HTTPRequest(url: Self.url), over: origin, policy: policy)
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
      case .url: try await cache.responses(to: HTTPRequest(url: Self.url), over: origin).explanation()
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
    var fields: HTTPFields = [:]
    if let field { fields.append(field, "/a") }
    let server = FakeOrigin { [fields] (_: HTTPRequest) in HTTPResponse(HTTPResponseHead(status: 201, fields: fields)) }
    _ = try await cache.response(to: HTTPRequest(method: method, url: url), over: server)
  }
}

/// A change while a read is under way.
struct ChangeCase: Sendable, CustomTestStringConvertible {
  enum Subject: Sendable { case resource, url }
  enum Read: CaseIterable, Sendable {
    case first, revalidation, confirmation, background, cachedThenNetwork, networkOnly
  }
  /// Where the change is made: in the process of the read, which may use leases, or in another one.
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
    // `*=a*` is in the key of the resource, and not in that of the URL.
    let selected = selections.filter { subject == .resource || $0.pattern?.text != "*=a*" }
    let general = [Change.clear] + selected.flatMap { [.select($0, isSoft: false), .select($0, isSoft: true)] }
    switch subject {
    case .resource: return general + [.invalidate, .remove, .invalidateAll, .removeAll]
    case .url: return general + [.removeResponses, .post, .delete, .location, .contentLocation]
    }
  }
}
