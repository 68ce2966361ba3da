public import FetchVocabulary

/// Fetches a typed resource through the cache: by the policy of `options`, with one request for all callers that ask for
/// the same thing, and with a stale answer if the origin fails.
///
/// Nothing happens until the first snapshot is asked for. Storage and origin may be existentials: this call opens them.
/// - Parameters:
///   - request: what is asked for, from which the key of the entry is made.
///   - storage: where answers are kept.
///   - origin: the source of answers that the cache does not have.
///   - services: the rules, the clock, and what joins requests.
///   - options: the policy and the limits of this fetch.
///   - mayKeep: whether an answer may be stored; one for which it returns `false` is returned all the same.
///   - toDomain: makes the value that callers see of an answer.
public func fetch<Storage: ResponseStore, Origin: ResponseOrigin, Value: Sendable>(
  _ request: Storage.Request, storage: Storage, origin: Origin, services: FetchServices, options: FetchOptions,
  mayKeep: @escaping @Sendable (Storage.Response) -> Bool = { _ in true },
  toDomain: @escaping @Sendable (Storage.Response) -> Value
) -> Snapshots<Value> where Origin.Request == Storage.Request, Origin.Response == Storage.Response {
  let subject = ResourceSubject(
    request: request, storage: storage, source: origin, rules: services.rules, mayKeep: mayKeep, toDomain: toDomain)
  return CachedFetch(subject: subject, services: services).snapshots(options)
}

/// A typed resource: one entry for each request.
///
/// `Answer` is a parameter of its own because otherwise the runtime would search the program for `Storage`'s
/// conformance at each start.
private struct ResourceSubject<Storage: ResponseStore, Origin: ResponseOrigin, Answer: Sendable, Value: Sendable>:
  FetchSubject
where Origin.Request == Storage.Request, Origin.Response == Answer, Storage.Response == Answer {
  let request: Storage.Request
  let storage: Storage
  let source: Origin
  let rules: HTTPCacheRules
  let mayKeep: @Sendable (Answer) -> Bool
  let toDomain: @Sendable (Answer) -> Value

  var origin: String { source.name }

  func message() throws(CacheError) -> HTTPRequest { try source.message(for: request) }

  func key() throws(CacheError) -> String { try storage.key(for: request) }

  func flight() throws(CacheError) -> String? {
    if source.isInProcess { return nil }
    let party = rules.party(of: try message())
    return party.isEmpty ? try key() : "\(try key()) \(party)"
  }

  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<Answer> {
    let message = try message()
    try rules.requireCredentialKey(for: message)
    guard let stored = try await storage.response(for: request, isCounted: isCounted) else { return Lookup() }
    guard rules.selects(stored.head.selector, message) else { return Lookup(missing: .varyMiss) }
    return Lookup(found: stored)
  }

  /// Asks for the whole answer, as typed resources are never stored in part.
  func ask(
    _ conditions: HTTPFields, completing part: StoredResponse<Answer>?, during flight: FlightTicket?
  ) async throws(CacheError) -> OriginAnswer<Answer> {
    let answer = try await requested(conditions, during: flight)
    guard let response = answer.response, !mayKeep(response) else { return answer }
    var head = answer.head
    head.fields["Cache-Control"] = "no-store"
    return OriginAnswer(head: head, response: response)
  }

  /// The origin's answer. If the origin has nothing for the request any more, neither has the storage, unless `flight`
  /// is outdated.
  private func requested(
    _ conditions: HTTPFields, during flight: FlightTicket?
  ) async throws(CacheError) -> OriginAnswer<Answer> {
    do throws(CacheError) {
      return try await source.answer(to: request, conditions: conditions)
    } catch {
      guard error.code == .notFound, flight?.isOutdated != true else { throw error }
      do throws(CacheError) { try await storage.remove(request) } catch let failure {
        throw CacheError(
          error.code, "\(error.message); and the cache could not remove what it has: \(failure.message)",
          hint: error.hint, cause: error)
      }
      throw error
    }
  }

  func keep(
    _ answer: Answer, _ head: StoredHead, confirming base: StoredResponse<Answer>?, ending flight: FlightTicket?
  ) async throws(CacheError) -> String {
    try rules.requireCredentialKey(for: message())
    let storage = storage.ending(flight)
    if let base, try await storage.renew(base, head: head, for: request) { return try key() }
    try await storage.store(answer, head: head, for: request, expecting: base?.version)
    return try key()
  }

  func mayShare(_ answer: Answer, _ head: StoredHead) -> Bool { true }

  /// Removes what the answer replaces: a typed resource is only ever read, and as a whole.
  func settle(_ exchange: OriginExchange, during flight: FlightTicket?) async throws(CacheError) {
    // What was fetched before a change removes nothing that came after it.
    if flight?.isOutdated != true { try await storage.remove(request) }
  }

  func value(_ delivery: Delivery<Answer>) -> Value { toDomain(delivery.answer) }

  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value {
    throw try .notCached(key(), decision, options)
  }
}
