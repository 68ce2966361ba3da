/// A request whose response can be stored. Its parts make the canonical key of the entry.
public protocol CacheableRequest: Sendable, Hashable {
  /// The kind of resource, and the namespace of its entries: lowercase letters and digits.
  static var resource: String { get }

  /// The namespace of this request's entry; by default `resource`.
  var namespace: String { get }

  /// Everything that the response depends on, including the origin, and no secrets. The order does not matter, but keys
  /// are made faster if the names are sorted.
  var parameters: [(name: String, value: String)] { get }
}

extension CacheableRequest {
  /// The kind of resource.
  public var namespace: String { Self.resource }
}

/// A source of responses that the cache does not have: a server, or the sample data in the program.
public protocol ResponseOrigin<Request, Response>: Sendable {
  /// The kind of request.
  associatedtype Request: CacheableRequest
  /// The kind of response.
  associatedtype Response: Sendable

  /// The origin's name. It is part of every entry's key, so that responses of two origins never mix.
  var name: String { get }

  /// Whether asking the origin is so cheap that concurrent fetches need not share one request.
  var isInProcess: Bool { get }

  /// The request as the caching rules examine it, without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the request makes no sense.
  func message(for request: Request) throws(CacheError) -> HTTP.Request

  /// Asks the origin.
  ///
  /// - Parameters:
  ///   - request: what to ask for.
  ///   - conditions: header fields that make the request conditional on the stored response; empty for none.
  /// - Throws: `CacheError`: `originUnreachable`, `originRefused`, `notFound`, `invalidAnswer`, `invalidRequest`,
  ///   `cancelled`.
  func answer(to request: Request, conditions: HTTP.Fields) async throws(CacheError) -> OriginAnswer<Response>
}

extension ResponseOrigin {
  /// `false`: by default, an origin is not in this process.
  public var isInProcess: Bool { false }

  /// A placeholder for the request to an origin that is not reached over HTTP.
  public func message(for request: Request) throws(CacheError) -> HTTP.Request {
    HTTP.Request(url: "\(name):\(Request.resource)")
  }
}

/// The response of an origin.
public struct OriginAnswer<Response: Sendable>: Sendable {
  /// The status and the header fields, which decide how the response can be stored and reused.
  public let head: HTTP.ResponseHead
  /// The whole, valid response; `nil` if the origin confirms the stored response (status 304).
  public let response: Response?
  /// The status that the origin sent. It differs from that of `head` if the origin only completed the stored response.
  public let status: Int

  /// Creates a response. By default its status is that of `head`.
  public init(head: HTTP.ResponseHead, response: Response?, status: Int? = nil) {
    self.head = head
    self.response = response
    self.status = status ?? head.status
  }
}

/// Fetches a typed resource through the cache: by the policy of `options`, with one request for all callers that ask for
/// the same thing, and with a stale response if the origin fails.
///
/// Nothing happens until the caller requests the first snapshot. Storage and origin can be existentials: this call
/// opens them.
/// - Parameters:
///   - request: the request, from which the key of the entry is derived.
///   - storage: the storage of the responses.
///   - origin: the source of responses that the cache does not have.
///   - services: the rules, the clock, and the coalescer of requests.
///   - options: the policy and the limits of this fetch.
///   - mayKeep: whether a response can be stored; one for which it returns `false` is returned all the same.
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
/// `Response` is its own parameter because otherwise the runtime would search the program for `Storage`'s
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

  func message() throws(CacheError) -> HTTP.Request { try source.message(for: request) }

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
    _ conditions: HTTP.Fields, completing part: StoredResponse<Response>?, _ token: CoalescingToken?
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
    // A response fetched before a change must not remove entries that came after it.
    if token?.isOutdated != true { try await storage.remove(request) }
  }

  func value(_ delivery: Delivery<Response>) -> Value { toDomain(delivery.response) }

  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value {
    throw try .notCached(key(), decision, options)
  }
}
