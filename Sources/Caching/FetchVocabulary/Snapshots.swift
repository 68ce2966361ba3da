/// The results of one fetch, in the order in which they become known: usually one; with `FetchPolicy.cachedThenNetwork`
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

  /// Explains how the fetch would be served.
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

    /// Whether to ask for another snapshot. That might still fail.
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

extension Snapshots {
  /// A sequence that calls `make` each time it is iterated or explained.
  public static func deferred(_ make: @escaping @Sendable () throws(CacheError) -> Snapshots) -> Snapshots {
    Snapshots(
      explain: { () async throws(CacheError) in try await make().explanation() },
      { () async throws(CacheError) in try await make().first() })
  }

  /// The same snapshots, with their values transformed.
  public func mapValues<Other: Sendable>(
    _ transform: @escaping @Sendable (Value) async throws(CacheError) -> Other
  ) -> Snapshots<Other> {
    Snapshots<Other>(explain: explain) { [first] () async throws(CacheError) in
      try await Self.mapped(first, transform)
    }
  }

  private static func mapped<Other: Sendable>(
    _ producer: Producer, _ transform: @escaping @Sendable (Value) async throws(CacheError) -> Other
  ) async throws(CacheError) -> Snapshots<Other>.Step {
    let step = try await producer()
    let snapshot = step.snapshot.with(try await transform(step.snapshot.value))
    guard let next = step.next else { return Snapshots<Other>.Step(snapshot) }
    return Snapshots<Other>.Step(snapshot) { () async throws(CacheError) in try await mapped(next, transform) }
  }

  /// Replaces a snapshot by the sequence that `continuation` returns for it, for example to follow a redirect. The
  /// replaced snapshot's warnings move to the first snapshot of the other sequence. If a newer snapshot follows,
  /// `continuation` gets that one instead.
  public func following(
    _ continuation: @escaping @Sendable (Snapshot<Value>) throws(CacheError) -> Snapshots?
  ) -> Snapshots {
    Snapshots(explain: explain) { [first] () async throws(CacheError) in
      try await Self.followed(first, continuation)
    }
  }

  /// The same snapshots, up to the first value that `check` rejects: the error it throws ends the sequence.
  public func checked(_ check: @escaping @Sendable (Value) throws(CacheError) -> Void) -> Snapshots {
    following { snapshot throws(CacheError) in
      try check(snapshot.value)
      return nil
    }
  }

  private static func followed(
    _ producer: Producer, _ continuation: @escaping @Sendable (Snapshot<Value>) throws(CacheError) -> Snapshots?
  ) async throws(CacheError) -> Step {
    let step = try await producer()
    if let other = try continuation(step.snapshot) {
      if let next = step.next { return try await followed(next, continuation) }
      return try await other.first().warning(as: step.snapshot)
    }
    guard let next = step.next else { return step }
    return Step(step.snapshot) { () async throws(CacheError) in try await followed(next, continuation) }
  }
}

extension Snapshots.Step {
  /// The same step, with the warnings of `earlier` added before its own.
  fileprivate func warning(as earlier: Snapshot<Value>) -> Self {
    var snapshot = snapshot
    let own = Set(snapshot.warnings.map(\.error.message))
    snapshot.warnings = earlier.warnings.filter { !own.contains($0.error.message) } + snapshot.warnings
    snapshot.shared += earlier.shared
    return Self(snapshot, next: next)
  }
}

extension Snapshot {
  /// The same snapshot, with another value.
  public func with<Other: Sendable>(_ value: Other) -> Snapshot<Other> {
    var other = Snapshot<Other>(
      value: value, source: source == .cache ? .cache : .origin, isRevalidated: isRevalidated, entry: entry,
      warnings: warnings)
    other.shared = shared
    return other
  }
}
