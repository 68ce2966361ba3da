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
    map { snapshot async throws(CacheError) in snapshot.with(try await transform(snapshot.value)) }
  }

  /// The same sequence, with its snapshots transformed.
  public func map<Other: Sendable>(
    _ transform: @escaping @Sendable (Snapshot<Value>) async throws(CacheError) -> Snapshot<Other>
  ) -> Snapshots<Other> {
    Snapshots<Other>(explain: explain) { [first] () async throws(CacheError) in
      try await Self.mapped(first, transform)
    }
  }

  private static func mapped<Other: Sendable>(
    _ producer: Producer, _ transform: @escaping @Sendable (Snapshot<Value>) async throws(CacheError) -> Snapshot<Other>
  ) async throws(CacheError) -> Snapshots<Other>.Step {
    let step = try await producer()
    let snapshot = try await transform(step.snapshot)
    guard let next = step.next else { return Snapshots<Other>.Step(snapshot) }
    return Snapshots<Other>.Step(snapshot) { () async throws(CacheError) in try await mapped(next, transform) }
  }

  /// Replaces a snapshot by the sequence that `continuation` returns for it, for example to follow a redirect. The
  /// replaced snapshot's warnings move to the first snapshot of the other sequence. If a newer snapshot follows,
  /// `continuation` is asked about that one instead.
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
    let own = Set(snapshot.warnings.map(\.message))
    snapshot.warnings = earlier.warnings.filter { !own.contains($0.message) } + snapshot.warnings
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
