import TestStorage
@testable import CacheCore
import FetchVocabulary
import EngineAPI
import Synchronization
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// Requests over every engine that several processes can use at once: each store here is opened as by a process of its
/// own.
@Suite(.timeLimit(.minutes(30))) struct SharedRequestsTests {
  static let shared = Backends.declarations.filter { $0.capabilities.contains(.shared) }.map(\.name)

  private static let request = "cities/v1/a"

  /// A fetch's effects on the origin and the cache, as far as coalescing matters.
  private struct Fetcher: Sendable {
    let store: OpenStore
    let key: CacheKey
    let request: @Sendable () -> Void

    /// Whether the store has the response at the end.
    func fetch() async throws -> Bool {
      if try await isStored() { return true }
      guard case .leading(let token) = try await store.entries.coalescer.join(key.text) else {
        return try await isStored()
      }
      if try await !isStored() {
        request()
        try await store.entries.write(key, payload: [1], metadata: metadata)
      }
      await store.entries.coalescer.finish(token)
      return try await isStored()
    }

    private func isStored() async throws -> Bool {
      try await store.entries.read(key) { _, _ throws(CacheError) in true } != nil
    }

    private var metadata: EntryMetadata { EntryMetadata(storedAt: store.entries.clock.now) }
  }

  private func leases(_ store: OpenStore) async throws -> [ScannedEntry] {
    try await store.administration.list(EntrySelection(namespace: "leases"), after: nil, limit: 10).entries
  }

  @Test(arguments: shared) func manyFetchesThroughSeveralStoresMakeOneRequest(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let requests = RequestCount()
    let key = try CacheKey(Self.request)
    var stores: [OpenStore] = []
    for _ in 0..<4 { stores.append(try await container.openStore()) }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        let store = stores[number % 4]
        group.addTask { try await Fetcher(store: store, key: key) { requests.add() }.fetch() }
      }
      for try await isStored in group { #expect(isStored) }
    }
    #expect(requests.value == 1)
    #expect(try await leases(stores[0]).isEmpty)
    for store in stores { try await store.close() }
  }

  /// The process table of a process that has ended.
  private struct DeadProcess: ProcessTable {
    let current: String?

    func cannotFinish(_ process: String) -> Bool { false }
  }

  @Test(arguments: shared) func theLeaseOfAProcessThatEndedIsTakenOver(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let (left, right) = (try await container.openStore(), try await container.openStore())
    let current = try #require(SystemProcessTable().current)
    let dead = current + "0"
    let table = LeaseTable(
      engine: left.entries.engine, clock: left.entries.clock, transforms: TransformPipeline(.none),
      options: LeaseOptions(duration: .seconds(1_000), processes: DeadProcess(current: dead)))
    #expect(try await table.take(try Lease.key(for: Self.request), expecting: .absent) != nil)
    guard case .leading(let token) = try await right.entries.coalescer.join(Self.request) else {
      Issue.record("no process leads")
      return
    }
    #expect(try await leases(left).count == 1)
    await right.entries.coalescer.finish(token)
    #expect(try await leases(left).isEmpty)
    for store in [left, right] { try await store.close() }
  }

  @Test func aStoreThatNoOtherProcessCanUseKeepsNoLeases() async throws {
    let home = try TestHome()
    let store = try await home.container(backend: "memory").openStore()
    guard case .leading(let token) = try await store.entries.coalescer.join(Self.request) else {
      Issue.record("no process leads")
      return
    }
    #expect(try await leases(store).isEmpty)
    await store.entries.coalescer.finish(token)
    try await store.close()
  }
}

/// How many requests were made.
private final class RequestCount: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func add() { count.add(1, ordering: .sequentiallyConsistent) }
}
