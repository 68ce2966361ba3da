internal import CacheDomain

/// The snapshots of one fetch. Storage and origin are opened here where the caller has them as existentials.
func fetch<Storage: ResponseStore, Origin: ResponseOrigin, Value: Sendable>(
  _ request: Storage.Request, storage: Storage, origin: Origin, freshness: FreshnessPolicy, options: FetchOptions,
  toDomain: @escaping @Sendable (Storage.Response) -> Value
) -> Snapshots<Value> where Origin.Request == Storage.Request, Origin.Response == Storage.Response {
  CachedFetch(request: request, storage: storage, origin: origin, freshness: freshness, toDomain: toDomain)
    .snapshots(options)
}

/// Answers one request from a storage and an origin by one of the fetch policies. It is the only place that knows them.
///
/// A storage that fails never keeps an answer of the origin from the user: its failure becomes a warning on the
/// snapshot. An origin that fails is stood in for by what is stored, and the failure becomes a warning too.
private struct CachedFetch<Storage: ResponseStore, Origin: ResponseOrigin, Value: Sendable>: Sendable
where Origin.Request == Storage.Request, Origin.Response == Storage.Response {
  let request: Storage.Request
  let storage: Storage
  let origin: Origin
  let freshness: FreshnessPolicy
  let toDomain: @Sendable (Storage.Response) -> Value

  private typealias Response = Storage.Response
  private typealias Step = Snapshots<Value>.Step

  /// What the storage holds, and the failure because of which that is not known.
  private struct Lookup {
    var stored: StoredResponse<Response>?
    var warnings: [CacheError] = []
  }

  func snapshots(_ options: FetchOptions) -> Snapshots<Value> {
    Snapshots { () async throws(CacheError) in
      switch options.policy {
      case .cacheOnly: try await cacheOnly()
      case .networkOnly: try await networkOnly()
      case .cacheFirst: try await cacheFirst(options)
      case .cachedThenNetwork: try await cachedThenNetwork()
      }
    }
  }

  private func cacheOnly() async throws(CacheError) -> Step {
    guard let stored = try await storage.response(for: request) else {
      let key = try storage.facts(for: request, lifetime: freshness.lifetime).key
      throw CacheError(.notCached, "\(key) is not in the cache", hint: "fetch it once without --offline")
    }
    return Step(snapshot(of: stored))
  }

  private func networkOnly() async throws(CacheError) -> Step {
    // A request that can have no entry fails before the origin is asked.
    _ = try storage.facts(for: request, lifetime: freshness.lifetime)
    return Step(try await askOrigin(Lookup()))
  }

  private func cacheFirst(_ options: FetchOptions) async throws(CacheError) -> Step {
    let lookup = try await lookUp()
    if let stored = lookup.stored, answersWithoutOrigin(stored.facts, options) {
      return Step(snapshot(of: stored))
    }
    return Step(try await askOrigin(lookup))
  }

  private func cachedThenNetwork() async throws(CacheError) -> Step {
    let lookup = try await lookUp()
    guard let stored = lookup.stored else { return Step(try await askOrigin(lookup)) }
    return Step(snapshot(of: stored)) { () async throws(CacheError) in
      Step(try await askOrigin(lookup))
    }
  }

  private func answersWithoutOrigin(_ facts: EntryFacts, _ options: FetchOptions) -> Bool {
    let excessAge = options.maxAge.map { facts.age - $0 } ?? .zero
    guard facts.isStale || excessAge > .zero else { return true }
    guard let maxStale = options.maxStale else { return false }
    return max(.zero - facts.remainingFreshness, excessAge) <= maxStale
  }

  private func lookUp() async throws(CacheError) -> Lookup {
    do throws(CacheError) {
      return Lookup(stored: try await storage.response(for: request))
    } catch {
      if [.cancelled, .invalidRequest].contains(error.code) { throw error }
      return Lookup(warnings: [error])
    }
  }

  /// Asks the origin, and stores what it answers. What the lookup found answers for an origin that fails in a way that
  /// may pass (RFC 5861, section 4).
  private func askOrigin(_ lookup: Lookup) async throws(CacheError) -> Snapshot<Value> {
    do throws(CacheError) {
      let answer = try await origin.answer(to: request, validator: lookup.stored?.validator)
      if Task.isCancelled { throw CacheError.cancelled }
      return try await store(answer, lookup)
    } catch {
      // A connection that broke off because the task was cancelled is no failure to stand in for.
      if Task.isCancelled { throw .cancelled }
      guard let stored = lookup.stored, mayStandIn(stored.facts, for: error) else { throw error }
      return snapshot(of: stored, warnings: lookup.warnings + [error])
    }
  }

  private func mayStandIn(_ facts: EntryFacts, for error: CacheError) -> Bool {
    [.originUnreachable, .invalidAnswer].contains(error.code)
      && .zero - facts.remainingFreshness < freshness.staleIfError
  }

  private func store(
    _ answer: OriginAnswer<Response>, _ lookup: Lookup
  ) async throws(CacheError) -> Snapshot<Value> {
    switch (answer, lookup.stored) {
    case (.modified(let response, let validator), _):
      return try await store(response, validator, source: .origin, warnings: lookup.warnings)
    case (.notModified, let stored?):
      return try await store(stored.response, stored.validator, source: .cache, warnings: lookup.warnings)
    case (.notModified, nil):
      throw CacheError(.invalidAnswer, "\(origin.name) confirmed an answer that it was not asked about")
    }
  }

  private func store(
    _ response: Response, _ validator: String?, source: Snapshot<Value>.Source, warnings: [CacheError]
  ) async throws(CacheError) -> Snapshot<Value> {
    let lifetime = freshness.lifetime
    var snapshot = Snapshot(
      value: toDomain(response), source: source, isRevalidated: source == .cache,
      entry: try storage.facts(for: request, lifetime: lifetime), warnings: warnings)
    do throws(CacheError) {
      snapshot.entry = try await storage.store(response, validator: validator, for: request, lifetime: lifetime)
    } catch {
      if error.code == .cancelled { throw error }
      // A storage that is out of use as a whole says the same of reading and of writing: once is enough.
      if !warnings.contains(where: { $0.message == error.message }) { snapshot.warnings.append(error) }
    }
    return snapshot
  }

  private func snapshot(of stored: StoredResponse<Response>, warnings: [CacheError] = []) -> Snapshot<Value> {
    Snapshot(value: toDomain(stored.response), source: .cache, entry: stored.facts, warnings: warnings)
  }
}
