public import FetchVocabulary

/// Fetches a typed resource through the cache: by the policy of `options`, with one request for all callers that ask for
/// the same thing, and with a stale response if the origin fails.
///
/// Nothing happens until the first snapshot is asked for. Storage and origin may be existentials: this call opens them.
/// - Parameters:
///   - request: what is asked for, from which the key of the entry is made.
///   - storage: where responses are kept.
///   - origin: the source of responses that the cache does not have.
///   - services: the rules, the clock, and what coalesces requests.
///   - options: the policy and the limits of this fetch.
///   - mayKeep: whether a response may be stored; one for which it returns `false` is returned all the same.
///   - toDomain: makes the value that callers see of a response.
public func fetch<Storage: ResponseStore, Origin: ResponseOrigin, Value: Sendable>(
  _ request: Storage.Request, storage: Storage, origin: Origin, services: FetchServices, options: FetchOptions,
  mayKeep: @escaping @Sendable (Storage.Response) -> Bool = { _ in true },
  toDomain: @escaping @Sendable (Storage.Response) -> Value
) -> Snapshots<Value> where Origin.Request == Storage.Request, Origin.Response == Storage.Response {
  let target = ResourceTarget(
    request: request, storage: storage, source: origin, rules: services.rules, mayKeep: mayKeep, toDomain: toDomain)
  return FetchOperation.snapshots(of: target, services, options)
}

/// A typed resource: one entry for each request.
///
/// `Response` is a parameter of its own because otherwise the runtime would search the program for `Storage`'s
/// conformance at each start.
private struct ResourceTarget<Storage: ResponseStore, Origin: ResponseOrigin, Response: Sendable, Value: Sendable>:
  FetchTarget
where Origin.Request == Storage.Request, Origin.Response == Response, Storage.Response == Response {
  let request: Storage.Request
  let storage: Storage
  let source: Origin
  let rules: HTTPCacheRules
  let mayKeep: @Sendable (Response) -> Bool
  let toDomain: @Sendable (Response) -> Value

  var origin: String { source.name }

  func message() throws(CacheError) -> HTTPRequest { try source.message(for: request) }

  func key() throws(CacheError) -> String { try storage.key(for: request) }

  func coalescingKey() throws(CacheError) -> String? {
    if source.isInProcess { return nil }
    let party = rules.party(of: try message())
    return party.isEmpty ? try key() : "\(try key()) \(party)"
  }

  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<Response> {
    let message = try message()
    try rules.requireCredentialKey(for: message)
    guard let stored = try await storage.response(for: request, isCounted: isCounted) else { return Lookup() }
    guard rules.selects(stored.head.selector, message) else { return Lookup(missing: .varyMiss) }
    return Lookup(found: stored)
  }

  /// Requests the whole response, as typed resources are never stored in part. If the origin has nothing for the request
  /// any more, neither has the storage, unless the request is outdated.
  func request(
    _ conditions: HTTPFields, completing part: StoredResponse<Response>?, _ token: CoalescingToken?
  ) async throws(CacheError) -> OriginAnswer<Response> {
    do throws(CacheError) {
      let answer = try await source.answer(to: request, conditions: conditions)
      guard let response = answer.response, !mayKeep(response) else { return answer }
      var head = answer.head
      head.fields["Cache-Control"] = "no-store"
      return OriginAnswer(head: head, response: response)
    } catch {
      guard error.code == .notFound, token?.isOutdated != true else { throw error }
      do throws(CacheError) { try await storage.remove(request) } catch let failure {
        throw CacheError(
          error.code, "\(error.message); and the cache could not remove what it has: \(failure.message)",
          hint: error.hint, cause: error)
      }
      throw error
    }
  }

  func store(
    _ response: Response, _ head: StoredHead, confirming base: StoredResponse<Response>?, _ token: CoalescingToken?
  ) async throws(CacheError) -> String {
    try rules.requireCredentialKey(for: message())
    try await storage.store(response, head: head, for: request, confirming: base, token: token)
    return try key()
  }

  func isShareable(_ response: Response, _ head: StoredHead) -> Bool { true }

  /// Removes what the response replaces: a typed resource is only ever read, and as a whole.
  func applySideEffects(_ exchange: OriginExchange, _ token: CoalescingToken?) async throws(CacheError) {
    // What was fetched before a change removes nothing that came after it.
    if token?.isOutdated != true { try await storage.remove(request) }
  }

  func value(_ delivery: Delivery<Response>) -> Value { toDomain(delivery.response) }

  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value {
    throw try .notCached(key(), decision, options)
  }
}
