import CacheDomain
import Synchronization

/// The events, in order.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  var entries: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Suspends the calling task until it is cancelled.
func waitForCancellation() async {
  let (stream, continuation) = AsyncStream<Void>.makeStream()
  for await _ in stream {}
  continuation.finish()
}

/// Cancels `work` as soon as it says that it is `ready`, and returns what it returns.
func cancelling<Output: Sendable>(
  _ work: @escaping @Sendable (_ ready: AsyncStream<Void>.Continuation) async -> Output
) async -> Output {
  let (isReady, ready) = AsyncStream<Void>.makeStream()
  let task = Task {
    defer { ready.finish() }
    return await work(ready)
  }
  for await _ in isReady { task.cancel() }
  return await task.value
}

enum Fixtures {
  static let facts = EntryFacts(key: "k/v1", storedAt: .zero, freshUntil: .seconds(60), now: .zero)

  static func snapshot<Value: Sendable>(_ value: Value, warnings: [CacheError] = []) -> Snapshot<Value> {
    Snapshot(value: value, source: .origin, entry: facts, warnings: warnings.map { CacheWarning(.reading, $0) })
  }

  static let explanation = FetchExplanation(
    key: "k/v1", decision: CacheDecision(.fetch, "nothing is stored", forward: .uriMiss),
    criteria: [CacheCriterion("stored response", "nothing is stored")])

  static func explain() async throws(CacheError) -> FetchExplanation { explanation }

  static let page = MoviesPage(page: 1, totalPages: 1, totalItems: 0, movies: [])

  /// Snapshots of the values, whose making is written down; then the error, if there is one.
  static func snapshots<Value: Sendable>(_ values: [Value], then error: CacheError? = nil, journal: Journal)
    -> Snapshots<Value>
  { Snapshots(explain: explain) { () async throws(CacheError) in try step(values[...], error, journal) } }

  private static func step<Value: Sendable>(
    _ values: ArraySlice<Value>, _ error: CacheError?, _ journal: Journal
  ) throws(CacheError) -> Snapshots<Value>.Step {
    guard let value = values.first else {
      journal.add("error")
      throw error ?? CacheError(.notFound, "nothing is left")
    }
    journal.add("make \(value)")
    let rest = values.dropFirst()
    if rest.isEmpty, error == nil { return Snapshots.Step(snapshot(value)) }
    return Snapshots.Step(snapshot(value)) { () async throws(CacheError) in try step(rest, error, journal) }
  }

  /// The values of a sequence, and the error that ends it.
  static func collect<Value: Sendable>(
    _ snapshots: Snapshots<Value>
  ) async -> (snapshots: [Snapshot<Value>], error: CacheError?) {
    var found: [Snapshot<Value>] = []
    do throws(CacheError) {
      var iterator = snapshots.makeAsyncIterator()
      while let snapshot = try await iterator.next() { found.append(snapshot) }
      return (found, nil)
    } catch { return (found, error) }
  }
}
