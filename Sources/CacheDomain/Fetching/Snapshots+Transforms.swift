extension Snapshots {
  /// The sequence that `make` makes, each time anew, when it is iterated or explained.
  public static func deferred(_ make: @escaping @Sendable () throws(CacheError) -> Snapshots) -> Snapshots {
    Snapshots(
      explain: { () async throws(CacheError) in try await make().explanation() },
      { () async throws(CacheError) in try await make().first() })
  }

  /// The same snapshots with what `transform` makes of their values.
  public func mapValues<Other: Sendable>(
    _ transform: @escaping @Sendable (Value) async throws(CacheError) -> Other
  ) -> Snapshots<Other> {
    map { snapshot async throws(CacheError) in snapshot.with(try await transform(snapshot.value)) }
  }

  /// What `transform` makes of the snapshots.
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

  /// The same snapshots, except that another sequence takes the place of one for which `continuation` finds one, as
  /// where an answer says that the real one is elsewhere. Such a snapshot is only a step on the way, whose warnings the
  /// other sequence's first snapshot has too: where a newer one follows it, that is asked where to go.
  public func following(
    _ continuation: @escaping @Sendable (Snapshot<Value>) throws(CacheError) -> Snapshots?
  ) -> Snapshots {
    Snapshots(explain: explain) { [first] () async throws(CacheError) in
      try await Self.followed(first, continuation)
    }
  }

  /// The same snapshots, up to the first whose value `check` does not accept: that one is its error.
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
      return try await other.first().warning(of: step.snapshot.warnings)
    }
    guard let next = step.next else { return step }
    return Step(step.snapshot) { () async throws(CacheError) in try await followed(next, continuation) }
  }
}

extension Snapshots.Step {
  /// The same step that also warns of `warnings`, before what it warns of itself.
  fileprivate func warning(of warnings: [CacheError]) -> Self {
    var snapshot = snapshot
    let own = Set(snapshot.warnings.map(\.message))
    snapshot.warnings = warnings.filter { !own.contains($0.message) } + snapshot.warnings
    return Self(snapshot, next: next)
  }
}

extension Snapshot {
  /// The same snapshot of another value.
  public func with<Other: Sendable>(_ value: Other) -> Snapshot<Other> {
    Snapshot<Other>(
      value: value, source: source == .cache ? .cache : .origin, isRevalidated: isRevalidated, entry: entry,
      warnings: warnings)
  }
}
