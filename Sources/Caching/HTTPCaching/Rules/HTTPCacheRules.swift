// Requests and responses, and what a fetch asks for, are part of what the rules say.
@_exported public import FetchVocabulary
internal import Synchronization

/// The rules of HTTP caching (RFC 9111, RFC 5861, RFC 9213): what to store, how far a stored response can be used, and
/// what to ask the origin. They are functions of requests, responses and the time: they read no clock and store
/// nothing.
///
/// Each question has its own function. Functions that decide record what they examine in a trace, if there is one.
public struct HTTPCacheRules: Sendable {
  /// Whether several users share the store. A shared cache stores no private responses, stores responses to requests
  /// with credentials only if they allow it, and obeys the directives for shared caches.
  public let isShared: Bool
  /// Applies if an origin says nothing about freshness.
  public var freshness: FreshnessPolicy
  /// How to find the lifetime of such a response.
  public var heuristic = Heuristic.timeToLive
  /// Whether https servers are trusted without proof of their identity. If so, their responses are not stored.
  public var isInsecure = false
  /// The key of the digests that stand for credentials; by default one that ends with the process.
  public var credentialKey = CredentialKey.ofProcess

  /// How to find the lifetime of a response whose origin does not give one.
  public enum Heuristic: Sendable, Hashable {
    /// The configured time to live: what users expect of an API whose responses do not mention caching.
    case timeToLive
    /// A tenth of the time since the last change, but at most the configured time to live. A response without a
    /// `Last-Modified` is stale at once (RFC 9111, section 4.2.2).
    case lastModified
  }

  /// Creates rules for a private or a shared cache.
  public init(isShared: Bool = false, freshness: FreshnessPolicy) {
    self.isShared = isShared
    self.freshness = freshness
  }

  /// Whether a response of `request`'s server is allowed to change stored responses.
  package func believesServer(of request: HTTP.Request) -> Bool { !isInsecure || !request.isSecure }

  /// The demands that `response` makes on this cache.
  package func directives(_ response: HTTP.ResponseHead) -> ResponseDirectives {
    ResponseDirectives(response.fields, isShared: isShared)
  }
}

/// The part of a stored response that decides how it can be used. Points in time are durations since
/// 1970-01-01T00:00:00Z.
public struct StoredHead: Sendable, Hashable {
  /// The status and the header fields, updated by each confirmation.
  public var head: HTTP.ResponseHead
  /// When the response was received or last confirmed.
  public var storedAt: Duration
  /// Until when the response is fresh.
  public var freshUntil: Duration
  /// Until when the response is kept.
  public var retainUntil: Duration
  /// The age on arrival (RFC 9111, section 4.2.3: `corrected_initial_age`).
  public var initialAge: Duration
  /// Decides for which requests the response can be used, among those for its URL.
  public var selector: VariantSelector

  /// Creates a head; by default it was new on arrival and is used for every request for its URL.
  public init(
    head: HTTP.ResponseHead, storedAt: Duration, freshUntil: Duration, retainUntil: Duration,
    initialAge: Duration = .zero, selector: VariantSelector = .always
  ) {
    self.head = head
    self.storedAt = storedAt
    self.freshUntil = freshUntil
    self.retainUntil = retainUntil
    self.initialAge = initialAge
    self.selector = selector
  }

  /// The age at `now` (RFC 9111, section 4.2.3: `current_age`); `nil` if unknown, because `storedAt` is ahead of the
  /// clock.
  public func age(at now: Duration) -> Duration? {
    clockReading(at: now).map { initialAge + $0.sinceStored }
  }

  /// How long the response stays fresh after `now`: zero or negative if it is stale, `nil` if its age is unknown.
  package func remainingFreshness(at now: Duration) -> Duration? {
    clockReading(at: now)?.remainingFreshness
  }

  private func clockReading(at now: Duration) -> EntryAge? {
    EntryAge(storedAt: storedAt, freshUntil: freshUntil, now: now)
  }

  /// Whether the response has a validator, which allows to revalidate it with the origin.
  public var hasValidator: Bool {
    head.fields.hasValidator
  }
}

/// The steps that led to a decision. Without one, nothing is recorded and no text is made.
public final class CacheTrace: Sendable {
  private let noted = Mutex<[CacheCriterion]>([])

  /// Creates an empty trace.
  public init() {}

  /// The steps so far, in order.
  public var criteria: [CacheCriterion] { noted.withLock { $0 } }

  /// Adds a step.
  public func note(_ name: String, _ finding: String) {
    noted.withLock { $0.append(CacheCriterion(name, finding)) }
  }
}

/// How long responses can be used if their origin does not say.
public struct FreshnessPolicy: Sendable, Hashable {
  /// How long a response is fresh.
  public let timeToLive: Duration
  /// How long a stale response can be used if the origin fails (RFC 5861, section 4).
  public let staleIfError: Duration
  /// How long a stale response can be served while it is revalidated (RFC 5861, section 3).
  public let staleWhileRevalidate: Duration

  /// An hour of freshness, then a day in which a stale response can be served if the origin fails.
  public static let standard = FreshnessPolicy(timeToLive: .seconds(3_600))

  /// Creates a policy. A duration must not be negative.
  public init(
    timeToLive: Duration, staleIfError: Duration = .seconds(86_400), staleWhileRevalidate: Duration = .zero
  ) {
    self.timeToLive = timeToLive
    self.staleIfError = staleIfError
    self.staleWhileRevalidate = staleWhileRevalidate
  }
}
