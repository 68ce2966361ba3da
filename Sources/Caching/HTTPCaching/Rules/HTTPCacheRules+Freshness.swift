/// How long a response is fresh, and how old it is (RFC 9111, section 4.2).
extension HTTPCacheRules {
  /// How long a response is fresh after the origin made it, and what says so.
  typealias FreshnessLifetime = (duration: Duration, source: String)

  /// Statuses whose responses can be reused without an explicit lifetime (RFC 9110, section 15.1).
  private static let heuristicallyCacheableStatuses: Set = [
    200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
  ]

  /// Whether a response without an explicit lifetime can be fresh.
  func allowsHeuristics(_ response: HTTP.ResponseHead) -> Bool {
    Self.heuristicallyCacheableStatuses.contains(response.status)
      || directives(response).control.contains("public")
  }

  /// How long `response`, received at `now`, is fresh, counted from the time at which the origin made it.
  func freshnessLifetime(of response: HTTP.ResponseHead, receivedAt now: Duration) -> FreshnessLifetime {
    let directives = directives(response)
    if directives.needsRevalidation { return (.zero, "no-cache") }
    if let name = directives.lifetimeName {
      // RFC 9111, section 4.2.1 recommends treating a malformed lifetime as stale.
      let duration = directives.control.seconds(name)
      return (duration ?? .zero, duration == nil ? "a malformed \(name)" : name)
    }
    let madeAt = madeAt(response, receivedAt: now)
    if directives.hasExpires {
      guard let end = response.fields.time("expires", now: now) else {
        return (.zero, "an Expires that is not a date, which means in the past")
      }
      return (max(end - madeAt, .zero), "Expires")
    }
    guard allowsHeuristics(response) else {
      return (.zero, "the status \(response.status), which says nothing about freshness")
    }
    let timeToLive = (freshness.timeToLive, "the configured time to live")
    guard heuristic == .lastModified else { return timeToLive }
    guard let modified = response.fields.time("last-modified", now: now), modified <= madeAt else {
      return (.zero, "default: it has neither a lifetime nor a Last-Modified")
    }
    // Section 4.2.2 suggests a tenth of the time since the last change.
    let tenth = (madeAt - modified) / 10
    return tenth > freshness.timeToLive ? timeToLive : (tenth, "a tenth of the time since Last-Modified")
  }

  /// How old `response` was on arrival (section 4.2.3), if its request was sent at `requestTime`.
  func initialAge(of response: HTTP.ResponseHead, requestTime: Duration, responseTime: Duration) -> Duration {
    let apparent = max(responseTime - madeAt(response, receivedAt: responseTime), .zero)
    // Section 5.1: the first member of a list counts; anything but a number is ignored.
    let members = FieldList.members(response.fields["age"] ?? "")
    let age = members.first.flatMap { DeltaSeconds.duration($0) } ?? .zero
    return max(apparent, age + max(responseTime - requestTime, .zero))
  }

  /// How long `stored` was meant to be fresh when it was stored or last confirmed.
  func lifetime(of stored: StoredHead) -> FreshnessLifetime {
    freshnessLifetime(of: stored.head, receivedAt: stored.storedAt)
  }

  private func madeAt(_ response: HTTP.ResponseHead, receivedAt now: Duration) -> Duration {
    response.fields.time("date", now: now) ?? now
  }
}
