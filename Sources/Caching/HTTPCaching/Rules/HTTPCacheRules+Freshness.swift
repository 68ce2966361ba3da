/// How long a response is fresh, and how old it is (RFC 9111, section 4.2).
extension HTTPCacheRules {
  /// How long a response is fresh after the origin made it, and what says so.
  struct FreshnessLifetime: Sendable, Hashable {
    let duration: Duration
    let source: String
    /// Whether the cache assumes this lifetime, because the origin gives none.
    let isAssumed: Bool

    init(_ duration: Duration, from source: String, isAssumed: Bool = false) {
      self.duration = duration
      self.source = source
      self.isAssumed = isAssumed
    }
  }

  /// Statuses whose responses may be reused without an explicit lifetime (RFC 9110, section 15.1).
  private static let heuristicallyCacheableStatuses: Set = [
    200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
  ]

  /// Whether a response without an explicit lifetime may be fresh.
  func allowsHeuristics(_ response: HTTPResponseHead) -> Bool {
    Self.heuristicallyCacheableStatuses.contains(response.status)
      || directives(response).control.contains("public")
  }

  /// How long `response`, received at `now`, is fresh, counted from the time at which the origin made it.
  func freshnessLifetime(of response: HTTPResponseHead, receivedAt now: Duration) -> FreshnessLifetime {
    let directives = directives(response)
    if directives.needsRevalidation { return FreshnessLifetime(.zero, from: "no-cache") }
    if let name = directives.lifetimeName {
      // RFC 9111, section 4.2.1 recommends treating a malformed lifetime as stale.
      let duration = directives.control.seconds(name)
      return FreshnessLifetime(duration ?? .zero, from: duration == nil ? "a malformed \(name)" : name)
    }
    let madeAt = madeAt(response, receivedAt: now)
    if directives.hasExpires {
      guard let end = response.fields.time("expires", now: now) else {
        return FreshnessLifetime(.zero, from: "an Expires that is not a date, which means in the past")
      }
      return FreshnessLifetime(max(end - madeAt, .zero), from: "Expires")
    }
    guard allowsHeuristics(response) else {
      return FreshnessLifetime(
        .zero, from: "the status \(response.status), which says nothing about freshness", isAssumed: true)
    }
    let timeToLive = FreshnessLifetime(freshness.timeToLive, from: "the configured time to live", isAssumed: true)
    guard heuristic == .lastModified else { return timeToLive }
    guard let modified = response.fields.time("last-modified", now: now), modified <= madeAt else {
      return FreshnessLifetime(.zero, from: "default: it has neither a lifetime nor a Last-Modified", isAssumed: true)
    }
    // Section 4.2.2 suggests a tenth of the time since the last change.
    let tenth = (madeAt - modified) / 10
    if tenth > timeToLive.duration { return timeToLive }
    return FreshnessLifetime(tenth, from: "a tenth of the time since Last-Modified", isAssumed: true)
  }

  /// How old `response` was on arrival (section 4.2.3), if its request was sent at `requestTime`.
  func initialAge(of response: HTTPResponseHead, requestTime: Duration, responseTime: Duration) -> Duration {
    let apparent = max(responseTime - madeAt(response, receivedAt: responseTime), .zero)
    // Section 5.1: the first member of a list counts; anything but a number is ignored.
    let members = FieldList.members(response.fields["age"] ?? "")
    let age = members.first.flatMap { DeltaSeconds.duration($0) } ?? .zero
    return max(apparent, age + max(responseTime - requestTime, .zero))
  }

  /// Something that a client should know about a stored response and its header fields do not say; `nil` for nothing.
  package func remark(on stored: StoredHead, at now: Duration) -> String? {
    if stored.age(at: now) == nil { return "stored ahead of the clock" }
    let lifetime = lifetime(of: stored)
    return lifetime.isAssumed ? "ttl by \(lifetime.source)" : nil
  }

  /// How long `stored` was meant to be fresh when it was stored or last confirmed.
  func lifetime(of stored: StoredHead) -> FreshnessLifetime {
    freshnessLifetime(of: stored.head, receivedAt: stored.storedAt)
  }

  private func madeAt(_ response: HTTPResponseHead, receivedAt now: Duration) -> Duration {
    response.fields.time("date", now: now) ?? now
  }
}
