/// The answers to one fetch, in the order in which they become known: often one, with `FetchPolicy.cachedThenNetwork`
/// the cached one and then the origin's.
///
/// Nothing happens before the first is asked for, and each further one is worked on only when it is asked for. All of
/// it runs in the task that asks, so that cancelling the task cancels the request. A sequence may be iterated again,
/// which fetches again.
public struct Snapshots<Value: Sendable>: AsyncSequence, Sendable {
  /// A snapshot, and how to come by the next one.
  public struct Step: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot<Value>
    /// Makes the next step; `nil` after the last.
    public let next: Producer?

    /// A step with the given parts.
    public init(_ snapshot: Snapshot<Value>, next: Producer? = nil) {
      self.snapshot = snapshot
      self.next = next
    }
  }

  /// Makes a step.
  public typealias Producer = @Sendable () async throws(CacheError) -> Step

  /// Finds out how the fetch would be answered.
  public typealias Explainer = @Sendable () async throws(CacheError) -> FetchExplanation

  let first: Producer
  let explain: Explainer

  /// The sequence that begins with what `first` makes, and that `explain` explains.
  public init(explain: @escaping Explainer, _ first: @escaping Producer) {
    self.explain = explain
    self.first = first
  }

  /// How the first snapshot would come about now. The origin is not asked, and nothing is changed.
  ///
  /// - Throws: `CacheError`: the cache cannot be read, or the request makes no sense.
  public func explanation() async throws(CacheError) -> FetchExplanation { try await explain() }

  /// The same sequence with `change` made to its first snapshot.
  public func changingFirst(
    _ change: @escaping @Sendable (Snapshot<Value>) async throws(CacheError) -> Snapshot<Value>
  ) -> Snapshots {
    Snapshots(explain: explain) { [first] () async throws(CacheError) in
      let step = try await first()
      return Step(try await change(step.snapshot), next: step.next)
    }
  }

  /// Begins a fetch.
  public func makeAsyncIterator() -> Iterator { Iterator(next: first) }

  /// Where a fetch stands.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var next: Producer?

    /// Whether another snapshot can be asked for. It may still fail to come.
    public var hasNext: Bool { next != nil }

    /// The next snapshot; `nil` after the last or after an error.
    ///
    /// - Throws: `CacheError`: why there is no snapshot, `cancelled` among them.
    public mutating func next() async throws(CacheError) -> Snapshot<Value>? {
      try await next(isolation: nil)
    }

    /// The next snapshot; `nil` after the last or after an error.
    ///
    /// - Throws: `CacheError`: why there is no snapshot, `cancelled` among them.
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
