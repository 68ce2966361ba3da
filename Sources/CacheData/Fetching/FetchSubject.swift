internal import CacheDomain

/// What can be fetched through the cache: how it is looked up, asked for and kept. What is done when is decided by
/// `CachedFetch` alone.
protocol FetchSubject: Sendable {
  /// What is kept, and what the origin answers.
  associatedtype Answer: Sendable
  /// What the caller gets.
  associatedtype Value: Sendable

  /// The name of the origin, for people.
  var origin: String { get }

  /// The request as the rules see it.
  func message() throws(CacheError) -> HTTPRequest

  /// The key of the entry that would be stored, as far as it is known before the origin has answered.
  func key() throws(CacheError) -> String

  /// What concurrent fetches that can share one answer have in common; `nil` where each has to ask for itself.
  func flight() throws(CacheError) -> String?

  /// What the cache holds.
  ///
  /// - Parameter isCounted: whether this is the first look-up of a fetch.
  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<Answer>

  /// Asks the origin: for the rest of `part`, which the look-up found, if it can be completed, or for everything.
  ///
  /// - Parameter conditions: those of the cache; they take the place of the caller's own.
  func ask(
    _ conditions: HTTPFields, completing part: StoredResponse<Answer>?
  ) async throws(CacheError) -> OriginAnswer<Answer>

  /// Stores an answer, or what a confirmation made of `base`, and returns the key of its entry.
  ///
  /// - Throws: `CacheError`: the storage failed; `conflict` where something else has taken the place of `base`.
  func keep(
    _ answer: Answer, _ head: StoredHead, confirming base: StoredResponse<Answer>?
  ) async throws(CacheError) -> String

  /// Does to the cache what an answer that is not stored demands, such as to remove what a POST made invalid.
  func settle(_ exchange: Exchange, _ found: StoredResponse<Answer>?) async throws(CacheError)

  /// What the caller gets of an answer.
  func value(_ delivery: Delivery<Answer>) -> Value

  /// What the caller gets where `decision` is to fail.
  ///
  /// - Throws: `CacheError` where that is an error.
  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> Value
}

/// What a look-up found.
struct Lookup<Answer: Sendable>: Sendable {
  /// The stored response that the request selects; `nil` where there is none.
  var found: StoredResponse<Answer>?
  /// Why there is none.
  var missing = CacheDecision.ForwardReason.uriMiss
  /// The stored response that has only a part of what is asked for.
  var part: StoredResponse<Answer>?
  /// The failure because of which nothing is known.
  var warnings: [CacheError] = []
}

/// A request to the origin and the head of its answer.
struct Exchange: Sendable {
  let head: HTTPResponseHead
  /// The status that the origin sent.
  let status: Int
  let requestTime: Duration
  let responseTime: Duration
}

/// An answer on its way to the caller, and how it was come by.
struct Delivery<Answer: Sendable>: Sendable {
  let answer: Answer
  /// What is stored of it; `nil` where nothing is.
  let stored: StoredHead?
  let decision: CacheDecision
  /// The status with which the origin answered; `nil` where it was not asked, or did not answer.
  var forwardStatus: Int?
  /// Whether the answer is the cache's, also where the origin confirmed it.
  let isFromCache: Bool
  let now: Duration
  /// Whether the storage kept what is to be stored; `false` where it failed, or there was nothing to keep.
  var isKept = true
  /// Why the answer may not be stored; `nil` where it may.
  var refusal: String?
}
