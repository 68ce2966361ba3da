// A fetch is decided by the rules, whose names its callers use.
@_exported public import HTTPCaching

/// One fetch, in the order of this file: look up, decide, serve or fail, join, request, store, deliver. `HTTPCacheRules`
/// decides what a policy allows of a stored response.
///
/// A failing storage never withholds the origin's response: its failure becomes a warning on the snapshot. If the origin
/// fails, a stale entry can be served instead, and that failure becomes a warning too.
struct FetchOperation<Target: FetchTarget>: Sendable {
  typealias Value = Target.Value
  typealias Step = Snapshots<Value>.Step
  typealias Stored = StoredResponse<Target.Response>

  private let target: Target
  private let services: FetchServices
  private let options: FetchOptions
  private let message: HTTP.Request
  private let startedAt: Duration
  private var lookup = Lookup<Target.Response>()
  private var decision: CacheDecision
  /// `nil` if nobody wants an explanation.
  private let trace: CacheTrace?
  /// The request that this fetch makes or shares; `nil` before it has joined one.
  private var token: CoalescingToken?
  /// Whether no caller waits for the response.
  private var isInBackground = false

  /// The snapshots of a fetch of `target`. Nothing happens until the first one is requested. An explanation ends once it is
  /// decided what to do.
  static func snapshots(
    of target: Target, _ services: FetchServices, _ options: FetchOptions
  ) -> Snapshots<Value> {
    Snapshots(explain: { () async throws(CacheError) in
      try await FetchOperation(target, services, options, isExplaining: true).explanation()
    }) { () async throws(CacheError) in
      try await FetchOperation(target, services, options).firstStep()
    }
  }

  // MARK: Look up, and decide

  private init(
    _ target: Target, _ services: FetchServices, _ options: FetchOptions, isExplaining: Bool = false
  ) async throws(CacheError) {
    self.target = target
    self.services = services
    self.options = options
    message = try target.message()
    startedAt = services.now()
    if options.policy == .networkOnly {
      // A request that cannot have an entry fails before it is sent.
      _ = try target.key()
    } else {
      do throws(CacheError) {
        lookup = try await target.lookUp(isCounted: !isExplaining)
      } catch {
        let isFatal = [.cancelled, .invalidRequest].contains(error.code)
        if isFatal || options.policy == .cacheOnly { throw error }
        lookup.warnings = [CacheWarning(.reading, error, key: try? target.key())]
      }
    }
    trace = isExplaining || services.observe != nil ? CacheTrace() : nil
    for warning in lookup.warnings { trace?.note("storage", warning.error.message) }
    decision = services.rules.decision(
      for: message, stored: lookup.found?.head, missing: lookup.missing, isReadable: lookup.warnings.isEmpty,
      options: options, now: startedAt, trace: trace)
    if options.policy == .cachedThenNetwork, let found = lookup.found, canBeShownFirst(found) {
      // The origin's response follows whatever the cache has: because the caller wants it, if for no other reason.
      decision = CacheDecision(
        .serveThenRevalidate, "the policy is cached-then-network", forward: decision.forwardReason ?? .request)
    }
  }

  /// Whether `found` can be shown before the request to the origin: at any age that the caller accepts, unless a directive
  /// forbids stale use.
  private func canBeShownFirst(_ found: Stored) -> Bool {
    var cacheOnly = options
    cacheOnly.policy = .cacheOnly
    cacheOnly.maxAge = nil
    return canServe(found.head, cacheOnly, at: startedAt)
  }

  /// Whether the rules let the cache serve the response with the head `stored` without its origin.
  private func canServe(_ stored: StoredHead, _ options: FetchOptions, at now: Duration) -> Bool {
    services.rules.decision(for: message, stored: stored, options: options, now: now).action == .serve
  }

  // MARK: Serve, or fail

  private func firstStep() async throws(CacheError) -> Step {
    switch decision.action {
    case .fail:
      observe()
      let value = try target.refusal(decision, options)
      return Step(Snapshot(value: value, source: .cache, entry: facts(nil, try target.key(), services.now())))
    case .fetch, .revalidate: return Step(try await requested())
    case .serve, .serveThenRevalidate: break
    }
    guard let found = lookup.found else { return Step(try await requested()) }
    observe()
    let snapshot = snapshot(of: found)
    guard decision.action == .serveThenRevalidate else { return Step(snapshot) }
    if options.policy == .cachedThenNetwork {
      return Step(snapshot) { () async throws(CacheError) in Step(try await requested()) }
    }
    try revalidateInBackground()
    return Step(snapshot)
  }

  /// The caller already has a response, so a failing origin is not reported; a cache that cannot store is.
  private func revalidateInBackground() throws(CacheError) {
    let name = if let key = try target.coalescingKey() { key } else { try target.key() }
    // A revalidation that began before a change does not serve those who come after it.
    var operation = self
    operation.isInBackground = true
    services.background.start("\(name) \(services.coalescer.changes)") { [operation] in
      guard let snapshot = try? await operation.requested(), snapshot.writeFailure != nil else { return nil }
      // Another caller that shares the request could have reported it.
      return snapshot.takeWarnings().first { $0.phase != .fetching }
    }
  }

  // MARK: Join: one fetch makes the request, the others wait

  /// How often a fetch joins a request: a second time if the one that it waited for vanished.
  private static var maximumJoins: Int { 2 }

  /// The result of a request.
  private struct Outcome: Sendable {
    /// The result for the caller.
    let result: Result<Snapshot<Value>, CacheError>
    /// The result for the callers that wait for this one: the origin's failure, even if this caller gets a stale
    /// response instead, or a response that the cache could not store.
    var shared: RequestCoalescer.SharedResult = .success(nil)
    /// Whether the response still arrives: `settle(_:_:_:)` then finishes the request.
    var isArriving = false
  }

  /// A response that the cache could not store, or that still arrives, for the callers that wait for it.
  private struct SharedResponse: Sendable {
    let delivery: Delivery<Target.Response>
    var arriving: ArrivingResponse<Target.Response>?
  }

  /// The origin's response, or that to another fetch's request: what it stored, or its failure.
  private func requested() async throws(CacheError) -> Snapshot<Value> {
    guard services.singleFlight != .off, let key = try target.coalescingKey() else {
      return try await leading(try ownToken(), looksAgain: false)
    }
    for _ in 0..<Self.maximumJoins {
      switch try await services.coalescer.join(key, acrossProcesses: services.singleFlight == .acrossProcesses) {
      case .leading(let token): return try await leading(token)
      case .finished(.failure(let failure), let token):
        var operation = self
        operation.token = token
        return try operation.failed(failure, isShared: true)
      case .finished(.success(let shared), let token):
        let shared = shared as? SharedResponse
        if shared?.arriving == nil, let snapshot = try await storedMeanwhile() { return snapshot }
        guard let shared, let delivery = delivery(of: shared) else { return try await leading(try ownToken()) }
        observe()
        return snapshot(delivery, sharing: token)
      case .vanished:
        if let snapshot = try await storedMeanwhile() { return snapshot }
      }
    }
    return try await leading(try ownToken())
  }

  /// The response to another caller's request, if this caller can use it.
  private func delivery(of shared: SharedResponse) -> Delivery<Target.Response>? {
    guard let head = shared.delivery.stored else { return nil }
    var delivery = shared.delivery
    guard let arriving = shared.arriving else {
      // A response received before this fetch began can be handed on only now, because storing it took long.
      return head.storedAt >= startedAt ? delivery : nil
    }
    guard head.storedAt >= startedAt || options.policy == .cacheFirst && canServe(head, options, at: services.now()),
      let response = arriving.forCaller()
    else { return nil }
    if isInBackground { arriving.continueWithoutReaders() }
    delivery.response = response
    delivery.now = services.now()
    return delivery
  }

  /// A request that no other caller joins. A change must find every request whose response might be stored; the change
  /// that an unsafe request makes must not end that request itself.
  private func ownToken() throws(CacheError) -> CoalescingToken {
    let key = try target.key()
    return message.isSafe ? services.coalescer.begin(key) : CoalescingToken(key: key)
  }

  /// Makes the request of `token` in its own task, so that it continues for others if this caller is cancelled.
  ///
  /// - Parameter looksAgain: whether another fetch could have stored the response since this one's lookup.
  private func leading(_ token: CoalescingToken, looksAgain: Bool = true) async throws(CacheError) -> Snapshot<Value> {
    var operation = self
    operation.token = token
    let (outcomes, source) = AsyncStream.makeStream(of: Outcome.self)
    let request = CoalescingToken.led.withValue(CoalescingToken.led.get() + [token]) {
      Task { [operation] in
        let outcome = await operation.outcome(looksAgain: looksAgain)
        if !outcome.isArriving { await services.coalescer.finish(token, outcome.shared) }
        source.yield(outcome)
        source.finish()
        // Content that arrives must not be held by the task, but by those who read it.
        return outcome.isArriving ? nil : outcome
      }
    }
    token.whenLeft { request.cancel() }
    for await outcome in outcomes { return try outcome.result.get() }
    // This caller was cancelled. The last one to leave waits until the request has ended.
    if token.leave() { throw .cancelled }
    guard let outcome = await request.value else { throw .cancelled }
    return try outcome.result.get()
  }

  /// The response that another fetch stored while this one waited; it counts as fresh as a response from the origin.
  /// `nil` if there is nothing new: a response received before this fetch began could be stored only after its lookup.
  private func storedMeanwhile() async throws(CacheError) -> Snapshot<Value>? {
    var operation = self
    guard let found = try await operation.newlyFound(), found.head.storedAt >= startedAt else { return nil }
    operation.observe()
    return operation.snapshot(of: found)
  }

  /// The response that a second lookup finds and the first one did not. A failure becomes a warning.
  private mutating func newlyFound() async throws(CacheError) -> Stored? {
    do throws(CacheError) {
      let new = try await target.lookUp(isCounted: false)
      lookup.part = new.part
      return new.found?.head == lookup.found?.head ? nil : new.found
    } catch {
      try warn(.reading, error)
      return nil
    }
  }

  // MARK: Request

  /// Statuses with which an origin says that it cannot respond now (RFC 5861, section 4; RFC 6585, section 4).
  private static var passingFailures: Set<Int> { [429, 500, 502, 503, 504] }

  private func outcome(looksAgain: Bool) async -> Outcome {
    var operation = self
    do throws(CacheError) {
      if looksAgain, options.policy != .networkOnly, let found = try await operation.newlyFound() {
        operation.lookup = Lookup(found: found)
        operation.decision = services.rules.decision(
          for: message, stored: found.head, options: options, now: services.now(), trace: trace)
        if operation.decision.action == .serve {
          operation.observe()
          return Outcome(result: .success(operation.snapshot(of: found)))
        }
      }
    } catch {
      return Outcome(result: .failure(error))
    }
    do throws(CacheError) {
      return try await operation.exchanged(confirming: operation.lookup.found)
    } catch {
      // The connection broke off because the task was cancelled: a stored entry must not hide that.
      if Task.isCancelled { return Outcome(result: .failure(.cancelled)) }
      let shared: RequestCoalescer.SharedResult = error.isOfOrigin ? .failure(error) : .success(nil)
      do throws(CacheError) {
        return Outcome(result: .success(try operation.failed(error)), shared: shared)
      } catch let ownFailure {
        return Outcome(result: .failure(ownFailure), shared: shared)
      }
    }
  }

  /// Requests the response from the origin: on the condition that it is not `base`, if there is one.
  private func exchanged(confirming base: Stored?) async throws(CacheError) -> Outcome {
    let rules = services.rules
    let conditions = base.map { rules.believesServer(of: message) ? rules.conditions(on: $0.head) : [:] } ?? [:]
    let requestTime = services.now()
    let answer = try await target.request(conditions, completing: lookup.part, token)
    // A change at the origin must change the cache, even if the caller no longer waits for the response.
    if Task.isCancelled, message.isSafe { throw .cancelled }
    let exchange = OriginExchange(
      head: answer.head, status: answer.status, requestTime: requestTime, responseTime: services.now())
    if let response = answer.response { return try await accepted(response, exchange) }
    guard let base, !conditions.lines.isEmpty else {
      throw CacheError(
        .invalidAnswer, "\(target.origin) confirmed a stored response (304), and the request did not name one",
        hint: "try again later: the server is at fault", cause: OriginFailure(status: exchange.status))
    }
    // A 304 about another response says nothing about the stored one (RFC 9111, section 4.3.4).
    guard rules.confirms(answer.head, base.head) else { return try await exchanged(confirming: nil) }
    return try await confirmed(base, exchange)
  }

  /// Ends a fetch whose origin failed, whether it was this fetch's request or another one's: with a stale entry (RFC 5861,
  /// section 4), or by throwing.
  ///
  /// - Parameter isShared: whether it was another one's.
  private func failed(_ error: CacheError, isShared: Bool = false) throws(CacheError) -> Snapshot<Value> {
    if error.permitsStaleResponse, let found = lookup.found, canServeStale(noting: trace) {
      observe()
      guard !options.requiresFresh || canServe(found.head, options, at: services.now()) else {
        throw CacheError(
          error.code, "\(error.message); only a stale copy is in the cache", hint: error.hint, cause: error)
      }
      var operation = self
      let warning = CacheWarning(.fetching, error, key: found.key)
      operation.lookup.warnings.append(warning)
      let status = (error.cause as? OriginFailure)?.status
      var snapshot = operation.snapshot(of: found, insteadOf: OriginFailure(status: status, isShared: isShared))
      if let token { snapshot.shared = [([warning], token.report)] }
      return snapshot
    }
    observe()
    // A readable cache might have served a response instead, so report both failures.
    guard error.code != .cancelled, let storage = lookup.warnings.first?.error else { throw error }
    throw CacheError(
      error.code, "\(error.message); and the cache could not be read: \(storage.message)", hint: error.hint,
      cause: error)
  }

  /// Whether the entry that the lookup found can be served because the origin failed.
  private func canServeStale(noting trace: CacheTrace? = nil) -> Bool {
    guard let found = lookup.found else { return false }
    return services.rules.canServeStale(
      found.head, for: message.fields, options: options, at: services.now(), trace: trace)
  }

  // MARK: Store

  /// The origin confirmed `base` (304): it gets new times.
  private func confirmed(_ base: Stored, _ exchange: OriginExchange) async throws(CacheError) -> Outcome {
    var head = services.rules.updated(
      base.head, by: exchange.head, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: trace)
    if !services.rules.mayStay(head.head, for: message) {
      // The 304 came with no-store or the like: use the response for this request only.
      head.freshUntil = head.storedAt
      head.retainUntil = head.storedAt
    }
    return try await stored(base.response, head, exchange, confirming: base)
  }

  /// The origin sent `response`: it is stored, if the rules allow that.
  private func accepted(_ response: Target.Response, _ exchange: OriginExchange) async throws(CacheError) -> Outcome {
    var operation = self
    // Without a stored entry, the failure itself is the response. It is not shared: each waiting fetch requests its own.
    if Self.passingFailures.contains(exchange.head.status), canServeStale() {
      throw CacheError(
        .originUnreachable, "\(target.origin) responded with status \(exchange.head.status)", hint: "try again later",
        cause: OriginFailure(status: exchange.status))
    }
    let head = services.rules.stored(
      exchange.head, for: message, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: trace)
    if head == nil || !message.isSafe { try await operation.applySideEffects(exchange) }
    if let head {
      if let outcome = operation.arriving(response, head, exchange) { return outcome }
      let whole = try await target.gathered(response, exchange, token)
      if Task.isCancelled, message.isSafe { throw .cancelled }
      return try await operation.stored(whole, head, exchange, confirming: nil)
    }
    observe()
    var delivery = operation.delivery(
      response, nil, key: try target.key(), isFromCache: false, forwardStatus: exchange.status)
    delivery.refusal = services.rules.refusal(to: exchange.head, for: message)
    return Outcome(result: .success(snapshot(delivery)))
  }

  /// Delivers `response` while it arrives, to this caller and to all that wait for it; it is stored once it is complete.
  /// `nil` if it is delivered once it is complete: always if no caller waits for it.
  private func arriving(_ response: Target.Response, _ head: StoredHead, _ exchange: OriginExchange) -> Outcome? {
    guard !isInBackground, let token,
      let arriving = target.arriving(
        response, head, exchange, isReplaceable: canServeStale(), token,
        settle: { [self] in await settle($0, head, exchange) }),
      let own = arriving.forCaller()
    else { return nil }
    observe()
    var delivery = delivery(own, head, key: arriving.key, isFromCache: false, forwardStatus: exchange.status)
    let snapshot = snapshot(delivery, sharing: token)
    if arriving.isShareable {
      delivery.response = arriving.start
      delivery.isCollapsed = true
      services.coalescer.share(SharedResponse(delivery: delivery, arriving: arriving), of: token)
    }
    return Outcome(result: .success(snapshot), isArriving: true)
  }

  /// Stores a response that was delivered while it arrived, and finishes the request. Nobody waits for the store by then:
  /// its failure is reported as that of background work.
  private func settle(
    _ result: Result<Target.Response, CacheError>, _ head: StoredHead, _ exchange: OriginExchange
  ) async {
    var shared: RequestCoalescer.SharedResult = .success(nil)
    if case .failure(let error) = result, error.isOfOrigin {
      shared = .failure(error)
    } else {
      do throws(CacheError) { _ = try await store(result, head, exchange, confirming: nil) } catch {
        if error.code != .cancelled { services.background.report(CacheWarning(.storing, error, key: try? entryKey())) }
      }
    }
    if let token { await services.coalescer.finish(token, shared) }
  }

  private func stored(
    _ response: Target.Response, _ head: StoredHead, _ exchange: OriginExchange, confirming base: Stored?
  ) async throws(CacheError) -> Outcome {
    var operation = self
    var delivery = delivery(
      response, head, key: try entryKey(), isFromCache: base != nil, forwardStatus: exchange.status)
    do throws(CacheError) {
      let stored = try await store(.success(response), head, exchange, confirming: base)
      delivery.isKept = stored != nil
      if let stored { delivery.key = stored }
    } catch {
      delivery.isKept = false
      if error.code != .conflict { try operation.warn(.storing, error) }
      delivery.refusal = error.code == .conflict ? "it was changed while it was fetched" : nil
    }
    if head.retainUntil <= head.storedAt {
      // Nothing can use the response after this request, so it is not kept.
      delivery.isKept = false
      delivery.refusal = services.rules.refusal(to: head.head, for: message) ?? "it is stale at once"
    }
    observe()
    delivery.warnings = operation.lookup.warnings
    let snapshot = snapshot(delivery, sharing: token)
    guard !delivery.isKept, target.isShareable(response, head) else { return Outcome(result: .success(snapshot)) }
    delivery.isCollapsed = true
    return Outcome(result: .success(snapshot), shared: .success(SharedResponse(delivery: delivery)))
  }

  /// Stores a response, or the result of confirming `base`, and returns the key of its entry; `nil` if a newer response is
  /// stored.
  ///
  /// - Throws: `CacheError`: why it is not stored; `conflict` if the resource has changed meanwhile.
  private func store(
    _ response: Result<Target.Response, CacheError>, _ head: StoredHead, _ exchange: OriginExchange,
    confirming base: Stored?
  ) async throws(CacheError) -> String? {
    do throws(CacheError) {
      return try await target.store(try response.get(), head, confirming: base, token)
    } catch {
      if error.code == .conflict, await isReplaced(since: base?.head.storedAt ?? head.storedAt) { return nil }
      // The entry that the response should have replaced is outdated. If it cannot be removed either, the error says
      // enough.
      if base == nil, error.isOfRoom { try? await target.applySideEffects(exchange, token) }
      throw error
    }
  }

  /// Whether a response is stored that was received or confirmed after `time`, so that an older one could not be.
  private func isReplaced(since time: Duration) async -> Bool {
    guard token?.isOutdated != true, let found = try? await target.lookUp(isCounted: false).found else { return false }
    return found.head.storedAt > time
  }

  /// Updates or removes the entries that the request affects. A failure becomes a warning.
  private mutating func applySideEffects(_ exchange: OriginExchange) async throws(CacheError) {
    do throws(CacheError) {
      try await target.applySideEffects(exchange, token)
    } catch {
      try warn(.storing, error)
    }
  }

  /// Turns a failure of the storage into a warning, but throws a cancellation.
  private mutating func warn(_ phase: CacheWarning.Phase, _ error: CacheError) throws(CacheError) {
    if error.code == .cancelled { throw error }
    // A storage that fails altogether gives the same error on reading and on writing: report it once.
    if lookup.warnings.contains(where: { $0.error.message == error.message }) { return }
    lookup.warnings.append(CacheWarning(phase, error, key: try? entryKey()))
  }

  // MARK: Deliver

  /// - Parameter failure: the failure of the origin instead of whose response `found` is served; `nil` if there is none.
  private func snapshot(of found: Stored, insteadOf failure: OriginFailure? = nil) -> Snapshot<Value> {
    var delivery = delivery(found.response, found.head, key: found.key, isFromCache: true, forwardStatus: nil)
    delivery.failure = failure
    delivery.isCollapsed = failure?.isShared == true
    return snapshot(delivery)
  }

  /// - Parameter token: the request whose callers share the warnings; `nil` if they are this caller's own.
  private func snapshot(
    _ delivery: Delivery<Target.Response>, sharing token: CoalescingToken? = nil
  ) -> Snapshot<Value> {
    var snapshot = Snapshot(
      value: target.value(delivery), source: delivery.isFromCache ? .cache : .origin,
      isRevalidated: delivery.isFromCache && delivery.forwardStatus != nil,
      entry: facts(delivery.stored, delivery.key, delivery.now, isKept: delivery.isKept, refusal: delivery.refusal),
      warnings: delivery.warnings)
    if let token { snapshot.shared = [(delivery.warnings, token.report)] }
    return snapshot
  }

  private func delivery(
    _ response: Target.Response, _ stored: StoredHead?, key: String, isFromCache: Bool, forwardStatus: Int?
  ) -> Delivery<Target.Response> {
    Delivery(
      response: response, key: key, warnings: lookup.warnings, stored: stored, decision: decision,
      forwardStatus: forwardStatus, isFromCache: isFromCache, now: services.now())
  }

  /// The key of the entry that the lookup found, or of the one that the response would have.
  private func entryKey() throws(CacheError) -> String {
    if let found = lookup.found { found.key } else { try target.key() }
  }

  /// A response that is not stored gets `now` for all its times.
  private func facts(
    _ stored: StoredHead?, _ key: String, _ now: Duration, isKept: Bool = true, refusal: String? = nil
  ) -> EntryFacts {
    EntryFacts(
      key: key, storedAt: stored?.storedAt ?? now, freshUntil: stored?.freshUntil ?? now, now: now,
      isStored: stored != nil && isKept, refusal: refusal)
  }

  private func observe() {
    guard let observe = services.observe, let explanation = try? explanation() else { return }
    observe(explanation)
  }

  private func explanation() throws(CacheError) -> FetchExplanation {
    FetchExplanation(key: try entryKey(), decision: decision, criteria: trace?.criteria ?? [])
  }
}

extension CacheError {
  /// Whether the origin failed, rather than the store or the caller. Concurrent fetches of the same resource share such
  /// an error instead of requesting again. They do not share a store's failure or a cancellation, nor refused
  /// credentials: another caller's credentials could be valid.
  fileprivate var isOfOrigin: Bool {
    [.originUnreachable, .invalidAnswer, .notFound, .invalidRequest].contains(code)
  }

  /// Whether the origin failed in a way that permits a stale response in its place.
  fileprivate var permitsStaleResponse: Bool { [.originUnreachable, .invalidAnswer].contains(code) }

  /// Whether an entry could not be stored because of its size or the lack of room. Removing one can succeed then.
  fileprivate var isOfRoom: Bool { [.noSpace, .tooLarge, .overBounds, .ioFailed].contains(code) }
}
