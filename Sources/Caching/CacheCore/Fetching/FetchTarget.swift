/// Something that can be fetched through the cache: how to look it up, request it and store it. `FetchOperation` alone
/// decides when to do which.
protocol FetchTarget: Sendable {
  /// The response, as the origin sends it and the storage keeps it.
  associatedtype Response: Sendable
  /// The value that the caller gets.
  associatedtype Value: Sendable

  /// The origin's name, for people.
  var origin: String { get }

  /// The request, as `HTTPCacheRules` examines it.
  func message() throws(CacheError) -> HTTP.Request

  /// The key under which the response would be stored, as far as it is known before the origin responds.
  func key() throws(CacheError) -> String

  /// A name that all fetches share that can use the same response: the key, and after a space what else distinguishes
  /// them. `nil` if each must make its own request.
  func coalescingKey() throws(CacheError) -> String?

  /// Looks up what the cache holds.
  ///
  /// - Parameter isCounted: whether this is the first lookup of a fetch.
  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<Response>

  /// Requests from the origin the rest of `part`, which the lookup found, if `part` can be completed, or else everything.
  ///
  /// - Parameters:
  ///   - conditions: the cache's conditions, which replace the caller's own.
  ///   - token: the request.
  func request(
    _ conditions: HTTP.Fields, completing part: StoredResponse<Response>?, _ token: CoalescingToken?
  ) async throws(CacheError) -> OriginAnswer<Response>

  /// A storable response that callers get while it arrives; `nil` if they get it once it is complete.
  ///
  /// - Parameters:
  ///   - head: the head as it will be stored.
  ///   - isReplaceable: whether a stale entry can be served if the content breaks off.
  ///   - settle: called once: with the complete response, before any caller gets the end of the content; or with the
  ///     failure of the origin, or `tooLarge` if it will not be stored.
  func arriving(
    _ response: Response, _ head: StoredHead, _ exchange: OriginExchange, isReplaceable: Bool,
    _ token: CoalescingToken?,
    settle: @escaping @Sendable (Result<Response, CacheError>) async -> Void
  ) -> ArrivingResponse<Response>?

  /// `response` once it is complete. If it is too large to be stored, part of it still arrives.
  ///
  /// - Throws: `CacheError`: the content broke off. A part that can be completed later is stored.
  func gathered(
    _ response: Response, _ exchange: OriginExchange, _ token: CoalescingToken?
  ) async throws(CacheError) -> Response

  /// Stores a response, or the result of confirming `base`, and returns its entry's key. This ends the lease of `token`.
  ///
  /// - Throws: `CacheError`: the storage failed; `conflict` if another entry has replaced `base`, or the request is
  ///   outdated.
  func store(
    _ response: Response, _ head: StoredHead, confirming base: StoredResponse<Response>?, _ token: CoalescingToken?
  ) async throws(CacheError) -> String

  /// Whether concurrent callers can use `response` too, which the cache can store, as `head`, but could not.
  func isShareable(_ response: Response, _ head: StoredHead) -> Bool

  /// Changes the cache as a response demands that is not stored itself: removes what it replaces, or what a POST made
  /// invalid. If the request of `token` is outdated, nothing is changed.
  func applySideEffects(_ exchange: OriginExchange, _ token: CoalescingToken?) async throws(CacheError)

  /// Makes the caller's value from a response.
  func value(_ delivery: Delivery<Response>) -> Value

  /// Makes the caller's value for a `decision` to fail.
  ///
  /// - Throws: `CacheError` if the caller should get an error.
  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value
}

/// By default, responses are complete when the origin returns them.
extension FetchTarget {
  func arriving(
    _ response: Response, _ head: StoredHead, _ exchange: OriginExchange, isReplaceable: Bool,
    _ token: CoalescingToken?,
    settle: @escaping @Sendable (Result<Response, CacheError>) async -> Void
  ) -> ArrivingResponse<Response>? { nil }

  func gathered(
    _ response: Response, _ exchange: OriginExchange, _ token: CoalescingToken?
  ) async throws(CacheError) -> Response { response }
}

/// A response that callers get while it arrives.
struct ArrivingResponse<Response: Sendable>: Sendable {
  /// The key of the entry that it will have, as far as it is known now.
  let key: String
  /// Whether callers that wait for it can get it too.
  let isShareable: Bool
  /// The response without its content.
  let start: Response
  /// The response for one more caller; `nil` if its transfer has failed, or the beginning is no longer in memory.
  let forCaller: @Sendable () -> Response?
  /// Keeps the transfer from ending with its last reader.
  let continueWithoutReaders: @Sendable () -> Void
}

/// The result of a lookup.
struct Lookup<Response: Sendable>: Sendable {
  /// The stored response that the request selects; `nil` if there is none.
  var found: StoredResponse<Response>?
  /// Why there is no such response.
  var missing = CacheDecision.ForwardReason.uriMiss
  /// A stored response that has only a part of what the request asks for.
  var part: StoredResponse<Response>?
  /// The failure that prevented the lookup, if it failed.
  var warnings: [CacheWarning] = []
}

/// The origin's response to a request, without its content, and the times of both.
struct OriginExchange: Sendable {
  let head: HTTP.ResponseHead
  /// The status that the origin sent.
  let status: Int
  let requestTime: Duration
  let responseTime: Duration
}

/// A response on its way to the caller, and its source.
struct Delivery<Response: Sendable>: Sendable {
  var response: Response
  /// The key of the entry that it has, or would have.
  var key: String
  /// Failures that did not prevent the response.
  var warnings: [CacheWarning]
  /// The head as it is stored; `nil` if the response is not stored.
  let stored: StoredHead?
  let decision: CacheDecision
  /// The status of the origin's response; `nil` if there was no request to it, or no response.
  var forwardStatus: Int?
  /// The failure of the origin because of which a stale response is served; `nil` if there is none.
  var failure: OriginFailure?
  /// Whether the response comes from the cache, even if the origin confirmed it.
  let isFromCache: Bool
  var now: Duration
  /// Whether the storage kept the response, or will keep it once it is complete; `false` if it failed, or had nothing to
  /// keep.
  var isKept = true
  /// Why the response must not be stored; `nil` if it can.
  var refusal: String?
  /// Whether the response is that to another caller's request, which this caller waited for.
  var isCollapsed = false
}

/// A failure of the origin, as the stale response reports it that is served because of it.
struct OriginFailure: Error {
  /// The status that the origin sent; `nil` if there was no response.
  var status: Int?
  /// Whether the failed request was another caller's.
  var isShared = false
  /// Whether the origin began to respond, so that another attempt can succeed, or continue.
  var hasBrokenOff = false
}

extension CacheError {
  /// The error if only the cache can be used for `name`, and it cannot.
  static func notCached(_ name: String, _ decision: CacheDecision, _ options: FetchOptions) -> CacheError {
    guard decision.isAboutStoredResponse else { return CacheError(.notCached, "\(name) is not in the cache") }
    if options.requiresFresh {
      return CacheError(.originUnreachable, "only a stale copy of \(name) is in the cache: \(decision.reason)")
    }
    return CacheError(.notCached, "\(name) cannot be used: \(decision.reason)")
  }
}

extension CacheDecision {
  /// Whether there is a stored response that the decision does not use.
  var isAboutStoredResponse: Bool { forwardReason == .stale || forwardReason == .request }
}
