internal import FetchVocabulary
// A fetch is decided by the rules, whose names its callers use.
@_exported public import HTTPCaching

/// Answers one request from the cache and the origin, in the order that the policy asks for. `HTTPCacheRules` decides what
/// a policy allows of a stored response.
///
/// A failing storage never withholds the origin's answer: its failure becomes a warning on the snapshot. If the origin
/// fails, a stored entry may answer in its place, and that failure becomes a warning too.
struct CachedFetch<Subject: FetchSubject>: Sendable {
  let subject: Subject
  let services: FetchServices

  typealias Value = Subject.Value
  typealias Step = Snapshots<Value>.Step
  typealias Stored = StoredResponse<Subject.Answer>

  /// All that is known and decided about the request, from the first look-up on.
  struct Plan: Sendable {
    let message: HTTPRequest
    let options: FetchOptions
    let startedAt: Duration
    var lookup: Lookup<Subject.Answer>
    var decision: CacheDecision
    var trace: CacheTrace
    /// The flight that this fetch leads, which ends once the answer is stored; `nil` if there is none.
    var flight: FlightTicket?
    /// Chooses the caller that reports the failures of the flight; `nil` if there is none.
    var report: SharedReport?
  }

  func snapshots(_ options: FetchOptions) -> Snapshots<Value> {
    Snapshots(explain: { () async throws(CacheError) in
      let plan = try await plan(options, isExplaining: true)
      return try explanation(plan)
    }) { () async throws(CacheError) in
      try await first(options)
    }
  }

  private func first(_ options: FetchOptions) async throws(CacheError) -> Step {
    let plan = try await plan(options, isExplaining: false)
    if case .fail = plan.decision.action {
      observe(plan)
      return Step(try refusal(plan))
    }
    guard let found = plan.lookup.found, [.serve, .serveThenRevalidate].contains(plan.decision.action) else {
      return Step(try await askOrigin(plan))
    }
    observe(plan)
    let snapshot = snapshot(of: found, plan)
    guard plan.decision.action == .serveThenRevalidate else { return Step(snapshot) }
    if options.policy == .cachedThenNetwork {
      return Step(snapshot) { () async throws(CacheError) in Step(try await askOrigin(plan)) }
    }
    // The user already has an answer, so do not report a failing origin; do report a cache that cannot store.
    var name = if let flight = try subject.flight() { flight } else { try subject.key() }
    // A revalidation that began before a change does not serve those who come after it.
    name += " \(services.flights.changes)"
    services.background.start(name) {
      guard let snapshot = try? await askOrigin(plan), snapshot.writeFailure != nil else { return nil }
      // Another caller that shares the request may have reported it.
      return snapshot.takeWarnings().first { !$0.mayBeStoodInFor }
    }
    return Step(snapshot)
  }

  private func plan(_ options: FetchOptions, isExplaining: Bool) async throws(CacheError) -> Plan {
    let (message, now) = (try subject.message(), services.now())
    let lookup = try await lookUp(options, isCounted: !isExplaining)
    var trace = CacheTrace(isRecording: isExplaining || services.observe != nil)
    for warning in lookup.warnings { trace.note("storage", warning.message) }
    var decision = services.rules.decision(
      for: message, stored: lookup.found?.head, missing: lookup.missing, isReadable: lookup.warnings.isEmpty,
      options: options, now: now, trace: &trace)
    if options.policy == .cachedThenNetwork, mayBeShownFirst(lookup.found, message, options, now) {
      // The origin's response follows whatever the cache has: because the caller wants it, if for no other reason.
      decision = CacheDecision(
        .serveThenRevalidate, "the policy is cached-then-network", forward: decision.forwardReason ?? .request)
    }
    return Plan(
      message: message, options: options, startedAt: now, lookup: lookup, decision: decision, trace: trace)
  }

  /// Whether `found` can be shown before the request to the origin: at any age that the caller accepts, unless a directive
  /// forbids stale use.
  private func mayBeShownFirst(
    _ found: Stored?, _ message: HTTPRequest, _ options: FetchOptions, _ now: Duration
  ) -> Bool {
    guard let found else { return false }
    var (trace, cacheOnly) = (CacheTrace(isRecording: false), options)
    (cacheOnly.policy, cacheOnly.maxAge) = (.cacheOnly, nil)
    let decision = services.rules.decision(
      for: message, stored: found.head, options: cacheOnly, now: now, trace: &trace)
    return decision.action == .serve
  }

  private func lookUp(_ options: FetchOptions, isCounted: Bool) async throws(CacheError) -> Lookup<Subject.Answer> {
    if options.policy == .networkOnly {
      // Fail before asking the origin if the request cannot have an entry.
      _ = try subject.key()
      return Lookup()
    }
    do throws(CacheError) {
      return try await subject.lookUp(isCounted: isCounted)
    } catch {
      let isFatal = [.cancelled, .invalidRequest].contains(error.code)
      if isFatal || options.policy == .cacheOnly { throw error }
      return Lookup(warnings: [error])
    }
  }
}

/// Making snapshots and explanations for the caller.
extension CachedFetch {
  /// - Parameter failure: the failure of the origin in whose place `found` is served; `nil` if there is none.
  func snapshot(of found: Stored, _ plan: Plan, insteadOf failure: OriginFailure? = nil) -> Snapshot<Value> {
    var delivery = delivery(found.response, found.head, plan, isFromCache: true, forwardStatus: nil)
    delivery.failure = failure
    delivery.isCollapsed = failure?.isShared == true
    return snapshot(delivery, key: found.key, warnings: plan.lookup.warnings)
  }

  func snapshot(_ delivery: Delivery<Subject.Answer>, key: String, warnings: [CacheError]) -> Snapshot<Value> {
    Snapshot(
      value: subject.value(delivery), source: delivery.isFromCache ? .cache : .origin,
      isRevalidated: delivery.isFromCache && delivery.forwardStatus != nil,
      entry: facts(
        delivery.stored, key, delivery.now, isKept: delivery.isKept, refusal: delivery.refusal), warnings: warnings)
  }

  func delivery(
    _ answer: Subject.Answer, _ stored: StoredHead?, _ plan: Plan, isFromCache: Bool, forwardStatus: Int?
  ) -> Delivery<Subject.Answer> {
    Delivery(
      answer: answer, stored: stored, decision: plan.decision, forwardStatus: forwardStatus, isFromCache: isFromCache,
      now: services.now())
  }

  func refusal(_ plan: Plan) throws(CacheError) -> Snapshot<Value> {
    let value = try subject.refusal(plan.decision, plan.options)
    return Snapshot(value: value, source: .cache, entry: facts(nil, try subject.key(), services.now()))
  }

  func observe(_ plan: Plan, _ trace: CacheTrace? = nil) {
    guard let observe = services.observe, let explanation = try? explanation(plan, trace) else { return }
    observe(explanation)
  }

  func explanation(_ plan: Plan, _ trace: CacheTrace? = nil) throws(CacheError) -> FetchExplanation {
    let key = if let found = plan.lookup.found { found.key } else { try subject.key() }
    return FetchExplanation(key: key, decision: plan.decision, criteria: (trace ?? plan.trace).criteria)
  }

  /// An answer that is not stored gets `now` for all its times.
  private func facts(
    _ stored: StoredHead?, _ key: String, _ now: Duration, isKept: Bool = true, refusal: String? = nil
  ) -> EntryFacts {
    EntryFacts(
      key: key, storedAt: stored?.storedAt ?? now, freshUntil: stored?.freshUntil ?? now, now: now,
      isStored: stored != nil && isKept, refusal: refusal)
  }
}
