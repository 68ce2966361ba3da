/// The answers to one fetch, in the order in which they become known: usually one; with `FetchPolicy.cachedThenNetwork`
/// the cached value, then the origin's.
///
/// Nothing happens until the first snapshot is requested, and work on each further one starts only when that one is
/// requested. Cancelling the requesting task cancels the fetch, and the request to the origin if no other
/// caller waits for it. Iterating a sequence again fetches again.
public struct Snapshots<Value: Sendable>: AsyncSequence, Sendable {
  /// A snapshot, and a way to get the next one.
  public struct Step: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot<Value>
    /// Makes the next step; `nil` after the last one.
    public let next: Producer?

    /// Creates a step.
    public init(_ snapshot: Snapshot<Value>, next: Producer? = nil) {
      self.snapshot = snapshot
      self.next = next
    }
  }

  /// Makes the next step.
  public typealias Producer = @Sendable () async throws(CacheError) -> Step

  /// Explains how the fetch would be answered.
  public typealias Explainer = @Sendable () async throws(CacheError) -> FetchExplanation

  let first: Producer
  let explain: Explainer

  /// Creates a sequence whose first step `first` makes, and which `explain` explains.
  public init(explain: @escaping Explainer, _ first: @escaping Producer) {
    self.explain = explain
    self.first = first
  }

  /// A sequence of `values` as if they came from the origin and were not kept, for tests of what shows them. Without
  /// values it fails with the code `notCached`.
  public init(_ values: [Value]) {
    explain = { () throws(CacheError) in throw CacheError(.unsupported, "these snapshots come from no cache") }
    first = { () throws(CacheError) in try Self.step(values[...]) }
  }

  private static func step(_ values: ArraySlice<Value>) throws(CacheError) -> Step {
    guard let value = values.first else { throw CacheError(.notCached, "there is no value") }
    let facts = EntryFacts(key: "", storedAt: .zero, freshUntil: .zero, now: .zero, isStored: false)
    let (snapshot, rest) = (Snapshot(value: value, source: .origin, entry: facts), values.dropFirst())
    return rest.isEmpty ? Step(snapshot) : Step(snapshot) { () throws(CacheError) in try step(rest) }
  }

  /// Explains how the first snapshot would be made now. This does not ask the origin, and changes nothing.
  ///
  /// - Throws: `CacheError`: the cache cannot be read, or the request makes no sense.
  public func explanation() async throws(CacheError) -> FetchExplanation { try await explain() }

  /// The same sequence, with its first snapshot changed.
  public func changingFirst(
    _ change: @escaping @Sendable (Snapshot<Value>) async throws(CacheError) -> Snapshot<Value>
  ) -> Snapshots {
    Snapshots(explain: explain) { [first] () async throws(CacheError) in
      let step = try await first()
      return Step(try await change(step.snapshot), next: step.next)
    }
  }

  /// Starts a fetch.
  public func makeAsyncIterator() -> Iterator { Iterator(next: first) }

  /// The state of a fetch under way.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate var next: Producer?

    /// Whether to ask for another snapshot. That may still fail.
    public var hasNext: Bool { next != nil }

    /// Returns the next snapshot; `nil` after the last one or after an error.
    ///
    /// - Throws: `CacheError`: why there is no snapshot, for example `cancelled`.
    public mutating func next() async throws(CacheError) -> Snapshot<Value>? {
      try await next(isolation: nil)
    }

    /// Returns the next snapshot; `nil` after the last one or after an error.
    ///
    /// - Throws: `CacheError`: why there is no snapshot, for example `cancelled`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(CacheError) -> Snapshot<Value>? {
      guard let producer = next else { return nil }
      next = nil
      if Task.isCancelled { throw .cancelled }
      let step = try await producer()
      next = step.next
      return step.snapshot
    }
  }
}
