public import FetchVocabulary

/// Deciding how far a stored response can be used (RFC 9111, section 4; RFC 5861, section 3).
extension HTTPCacheRules {
  /// Decides how to serve `request`, if it selects `stored`; `nil` if it selects no stored response.
  ///
  /// - Parameters:
  ///   - missing: why there is none: nothing is stored, nothing for such a request, or not the part that it asks for.
  ///   - isReadable: whether the storage could be read: otherwise something might be stored all the same.
  ///   - options: what the user allows.
  ///   - now: the current time.
  ///   - trace: records the examined criteria; `nil` to record nothing.
  public func decision(
    for request: HTTP.Request, stored: StoredHead?, missing: CacheDecision.ForwardReason = .uriMiss,
    isReadable: Bool = true, options: FetchOptions, now: Duration, trace: CacheTrace? = nil
  ) -> CacheDecision {
    if trace == nil, let stored, isFresh(stored, at: now, unlimitedBy: request, options) { return Self.fresh }
    let allowed = RequestDirectives(request.fields, options)
    noteParty(of: request, trace)
    if !HTTP.Request.retrieves(request.method) {
      trace?.note("method", "the cache serves GET and HEAD, not \(request.method)")
      return forwarded(.fetch, "the method is \(request.method)", .method, allowed)
    }
    if request.hasContent {
      trace?.note("method", "the cache serves no \(request.method) with content")
      return forwarded(.fetch, "the request has content", .request, allowed)
    }
    if options.policy == .networkOnly {
      trace?.note("policy", "network-only: the cache is not read")
      return forwarded(.fetch, "the policy is network-only", .bypass, allowed)
    }
    guard let stored else {
      let reason = isReadable ? Self.reason(missing) : "the cache cannot be read"
      trace?.note("stored response", reason)
      return forwarded(.fetch, reason, missing, allowed)
    }
    trace?.note("stored response", "status \(stored.head.status), stored at \(HTTPDate.text(stored.storedAt))")
    return decision(stored, allowed, now: now, trace: trace)
  }

  /// Notes what else selects a stored response, besides its URL and its `Vary`.
  private func noteParty(of request: HTTP.Request, _ trace: CacheTrace?) {
    guard let trace else { return }
    if let server = request.detour, let named = URLReference(request.target)?.server {
      trace.note("target", "a resource of \(named), which Host names; the request goes to \(server)")
    }
    guard request.hasCredentials else { return }
    let names = request.credentialNames.joined(separator: ", ")
    trace.note(
      "credentials",
      isShared
        ? "\(names): the shared cache keeps only a response that is for everybody"
        : "\(names): only a response to a request with the same values can be used")
  }

  private static let fresh = CacheDecision(.serve, "the stored response is fresh")

  /// Whether `stored` is fresh, and that is all that counts, as for most typed responses: no header field and no option
  /// sets other terms. It spares a repeated hit the search for directives.
  private func isFresh(
    _ stored: StoredHead, at now: Duration, unlimitedBy request: HTTP.Request, _ options: FetchOptions
  ) -> Bool {
    guard request.retrieves, request.fields.lines.isEmpty, stored.head.fields.lines.isEmpty,
      options.policy != .networkOnly, options.maxAge == nil, let remaining = stored.remainingFreshness(at: now)
    else { return false }
    return remaining > .zero
  }

  private func decision(
    _ stored: StoredHead, _ allowed: RequestDirectives, now: Duration, trace: CacheTrace? = nil
  ) -> CacheDecision {
    let directives = directives(stored.head)
    func asked(_ reason: String, _ forward: CacheDecision.ForwardReason = .stale) -> CacheDecision {
      forwarded(stored.hasValidator ? .revalidate : .fetch, reason, forward, allowed)
    }
    func refusedAsStale() -> CacheDecision? {
      guard let prohibition = directives.staleProhibition else { return nil }
      trace?.note("stale use", "forbidden by \(prohibition)")
      return asked("the stored response is stale, and \(prohibition) forbids serving it stale")
    }
    if allowed.mustRevalidate {
      trace?.note("request", "no-cache: a stored response needs a confirmation by the origin")
      return asked("the request says no-cache", .request)
    }
    if directives.needsRevalidation {
      trace?.note("response", "no-cache: each use needs a confirmation by the origin")
      return asked("the response says no-cache")
    }
    guard let age = stored.age(at: now), let remaining = stored.remainingFreshness(at: now) else {
      trace?.note("age", "unknown: stored \(Self.seconds(stored.storedAt - now)) ahead of the clock")
      trace?.note("freshness", "stale, because the age is unknown")
      if let refusal = refusedAsStale() { return refusal }
      // With an unknown age, no limit on staleness can be checked.
      if allowed.maxStale == RequestDirectives.anyStaleness {
        return CacheDecision(.serve, "the age of the stored response is unknown, and a stale response is accepted")
      }
      return asked("the age of the stored response is unknown")
    }
    trace?.note("age", Self.seconds(age))
    noteLifetime(of: stored, trace)
    let isFresh = remaining > .zero
    trace?.note(
      "freshness", isFresh ? "fresh for \(Self.seconds(remaining))" : "stale for \(Self.seconds(.zero - remaining))")
    let isImmutable = isFresh && directives.control.contains("immutable")
    let excess = (isImmutable ? allowed.maxAgeOfImmutable : allowed.maxAge).map { age - $0 } ?? .zero
    if excess > .zero { trace?.note("max-age", "older than allowed by \(Self.seconds(excess))") }
    if isFresh, excess <= .zero {
      if remaining >= allowed.minFresh { return Self.fresh }
      trace?.note("min-fresh", "must stay fresh for \(Self.seconds(allowed.minFresh))")
      return asked("the request requires a response that stays fresh longer", .request)
    }
    // No directive of the response matters for one that is fresh, but older than the request allows.
    if !isFresh, let refusal = refusedAsStale() { return refusal }
    let fault = isFresh ? "the stored response is older than the request allows" : "the stored response is stale"
    let staleness = max(.zero - remaining, excess)
    if let limit = allowed.maxStale, staleness <= limit {
      trace?.note("max-stale", "a response stale for \(Self.seconds(staleness)) is accepted")
      return CacheDecision(.serve, "\(fault), and a stale response is accepted")
    }
    if isFresh { return asked(fault, .request) }
    let left = (directives.staleWhileRevalidate ?? freshness.staleWhileRevalidate) + remaining
    // A limit on staleness that does not accept the response forbids this, too.
    if !allowed.wantsFresh, allowed.maxStale == nil, left > .zero {
      trace?.note("stale-while-revalidate", "can be served for \(Self.seconds(left)) more")
      return CacheDecision(
        allowed.isOnlyIfCached ? .serve : .serveThenRevalidate, "\(fault), and can be served while it is revalidated")
    }
    return asked(fault)
  }

  private func noteLifetime(of stored: StoredHead, _ trace: CacheTrace?) {
    guard let trace else { return }
    let lifetime = lifetime(of: stored)
    // The lifetime does not explain a response that was marked stale early, or stored under another configuration.
    guard stored.freshUntil == stored.storedAt + lifetime.duration - stored.initialAge else { return }
    trace.note("lifetime", "\(Self.seconds(lifetime.duration)) by \(lifetime.source)")
  }

  private func forwarded(
    _ action: CacheDecision.Action, _ reason: String, _ forward: CacheDecision.ForwardReason,
    _ allowed: RequestDirectives
  ) -> CacheDecision {
    if allowed.isOnlyIfCached {
      return CacheDecision(.fail, "\(reason), and only the cache is allowed", forward: forward)
    }
    return CacheDecision(action, reason, forward: forward)
  }

  private static func reason(_ missing: CacheDecision.ForwardReason) -> String {
    switch missing {
    case .varyMiss: "no stored response matches the header fields of the request"
    case .partial: "only a part of the content is stored, and not the requested one"
    case .request: "the request has conditions that only the origin can check"
    default: "nothing is stored"
    }
  }

  /// Whether `stored` can be served at `now` because the origin failed (RFC 5861, section 4).
  ///
  /// A request that says `no-cache` gets no response that the origin has not confirmed (RFC 9111, section 5.2.1.4). A
  /// limit on staleness in the request or in `options` holds here too. `options.requiresFresh` does not count: the caller
  /// says that there is only a stale response.
  ///
  /// - Parameter request: the request's header fields.
  public func canServeStale(
    _ stored: StoredHead, for request: HTTP.Fields = [:], options: FetchOptions = FetchOptions(), at now: Duration,
    trace: CacheTrace? = nil
  ) -> Bool {
    let (directives, allowed) = (directives(stored.head), RequestDirectives(request, options))
    if let prohibition = allowed.mustRevalidate ? "no-cache of the request" : directives.staleProhibition {
      trace?.note("stale-if-error", "forbidden by \(prohibition)")
      return false
    }
    let window = allowed.staleIfError ?? directives.staleIfError ?? freshness.staleIfError
    guard let remaining = stored.remainingFreshness(at: now), let age = stored.age(at: now) else {
      // With an unknown age, no limit on staleness can be checked.
      let isAllowed = window > .zero && [nil, RequestDirectives.anyStaleness].contains(allowed.maxStale)
      trace?.note(
        "stale-if-error", isAllowed ? "can be served, its age unknown" : "must not be served, its age unknown")
      return isAllowed
    }
    let staleness = max(.zero - remaining, allowed.maxAge.map { age - $0 } ?? .zero)
    if let limit = allowed.maxStale, staleness > limit {
      trace?.note("max-stale", "a response stale for \(Self.seconds(staleness)) is not accepted")
      return false
    }
    let left = window + remaining
    trace?.note("stale-if-error", left > .zero ? "can be served for \(Self.seconds(left)) more" : "stale for too long")
    return left > .zero
  }
}
