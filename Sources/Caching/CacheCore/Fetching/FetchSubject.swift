internal import FetchVocabulary

/// Something that can be fetched through the cache: how to look it up, ask for it and store it. `CachedFetch` alone
/// decides when to do which.
protocol FetchSubject: Sendable {
  /// The response, as the origin sends it and the storage keeps it.
  associatedtype Answer: Sendable
  /// The value that the caller gets.
  associatedtype Value: Sendable

  /// The origin's name, for people.
  var origin: String { get }

  /// The request, as `HTTPCacheRules` examines it.
  func message() throws(CacheError) -> HTTPRequest

  /// The key under which the answer would be stored, as far as it is known before the origin answers.
  func key() throws(CacheError) -> String

  /// A name that all fetches share that can use the same answer: the key, and after a space what else distinguishes them.
  /// `nil` if each must ask for itself.
  func flight() throws(CacheError) -> String?

  /// Looks up what the cache holds.
  ///
  /// - Parameter isCounted: whether this is the first look-up of a fetch.
  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<Answer>

  /// Asks the origin: for the rest of `part`, which the look-up found, if `part` can be completed, or else for
  /// everything.
  ///
  /// - Parameters:
  ///   - conditions: the cache's conditions, which replace the caller's own.
  ///   - flight: the flight under way; `nil` if there is none.
  func ask(
    _ conditions: HTTPFields, completing part: StoredResponse<Answer>?, during flight: FlightTicket?
  ) async throws(CacheError) -> OriginAnswer<Answer>

  /// Stores an answer, or the result of confirming `base`, and returns its entry's key.
  ///
  /// - Parameter flight: the flight that the answer ends; `nil` if there is none.
  /// - Throws: `CacheError`: the storage failed; `conflict` if another entry has replaced `base`, or the flight is
  ///   outdated.
  func keep(
    _ answer: Answer, _ head: StoredHead, confirming base: StoredResponse<Answer>?, ending flight: FlightTicket?
  ) async throws(CacheError) -> String

  /// Whether concurrent callers may use `answer` too, which the cache may store, as `head`, but could not.
  func mayShare(_ answer: Answer, _ head: StoredHead) -> Bool

  /// Changes the cache as an answer demands that is not stored itself: removes what it replaces, or what a POST made
  /// invalid.
  ///
  /// - Parameter flight: the flight under way; `nil` if there is none. If it is outdated, nothing is changed.
  func settle(_ exchange: OriginExchange, during flight: FlightTicket?) async throws(CacheError)

  /// Makes the caller's value from an answer.
  func value(_ delivery: Delivery<Answer>) -> Value

  /// Makes the caller's value for a `decision` to fail.
  ///
  /// - Throws: `CacheError` if the caller should get an error.
  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value
}

/// The result of a look-up.
struct Lookup<Answer: Sendable>: Sendable {
  /// The stored response that the request selects; `nil` if there is none.
  var found: StoredResponse<Answer>?
  /// Why there is no such response.
  var missing = CacheDecision.ForwardReason.uriMiss
  /// A stored response that has only a part of what the request asks for.
  var part: StoredResponse<Answer>?
  /// The failure that prevented the look-up, if it failed.
  var warnings: [CacheError] = []
}

/// The origin's answer to a request, without its content, and the times of both.
struct OriginExchange: Sendable {
  let head: HTTPResponseHead
  /// The status that the origin sent.
  let status: Int
  let requestTime: Duration
  let responseTime: Duration
}

/// An answer on its way to the caller, and where it came from.
struct Delivery<Answer: Sendable>: Sendable {
  let answer: Answer
  /// The head as it is stored; `nil` if the answer is not stored.
  let stored: StoredHead?
  let decision: CacheDecision
  /// The status of the origin's answer; `nil` if the origin was not asked or did not answer.
  var forwardStatus: Int?
  /// The failure of the origin in whose place the answer is served; `nil` if there is none.
  var failure: OriginFailure?
  /// Whether the answer comes from the cache, even if the origin confirmed it.
  let isFromCache: Bool
  let now: Duration
  /// Whether the storage kept the answer; `false` if it failed, or had nothing to keep.
  var isKept = true
  /// Why the answer may not be stored; `nil` if it may.
  var refusal: String?
  /// Whether the answer is that to another caller's request, which this caller waited for.
  var isCollapsed = false
}

/// A failure of the origin, as the answer that is served in its place reports it.
struct OriginFailure: Error {
  /// The status that the origin sent; `nil` if there was no response.
  var status: Int?
  /// Whether the failed request was another caller's.
  var isShared = false
}

extension CacheError {
  /// The error if only the cache may answer for `name`, and it cannot.
  static func notCached(_ name: String, _ decision: CacheDecision, _ options: FetchOptions) -> CacheError {
    guard decision.isAboutStoredResponse else { return CacheError(.notCached, "\(name) is not in the cache") }
    if options.requiresFresh {
      return CacheError(.originUnreachable, "only a stale copy of \(name) is in the cache: \(decision.reason)")
    }
    return CacheError(.notCached, "\(name) may not be used: \(decision.reason)")
  }
}

extension CacheDecision {
  /// Whether there is a stored response that the decision does not use.
  var isAboutStoredResponse: Bool { forwardReason == .stale || forwardReason == .request }
}
