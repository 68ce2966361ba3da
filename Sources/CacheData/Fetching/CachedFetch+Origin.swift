internal import CacheDomain

/// Asking the origin, and what its answer means for the cache.
extension CachedFetch {
  /// Statuses that say that the origin cannot answer now (RFC 5861, section 4; RFC 6585, section 4).
  private static var passingFailures: Set<Int> { [429, 500, 502, 503, 504] }

  /// Asks the origin, and stores what it answers. What the look-up found answers for an origin that fails in a way that
  /// may pass (RFC 5861, section 4).
  func exchange(_ plan: Plan) async -> Outcome {
    do throws(CacheError) {
      return Outcome(result: .success(try await request(plan, base: plan.lookup.found)))
    } catch {
      // A connection that broke off because the task was cancelled is no failure to stand in for.
      if Task.isCancelled { return Outcome(result: .failure(.cancelled)) }
      do throws(CacheError) {
        return Outcome(result: .success(try fail(plan, with: error)), failure: error)
      } catch let ownFailure {
        return Outcome(result: .failure(ownFailure), failure: error)
      }
    }
  }

  /// What becomes of a fetch whose origin failed, whoever asked it.
  func fail(_ plan: Plan, with error: CacheError) throws(CacheError) -> Snapshot<Value> {
    if error.mayBeStoodInFor, let snapshot = standIn(plan, for: error) { return snapshot }
    observe(plan)
    // A cache that cannot be read might have answered in the place of the origin: both have to be mended.
    guard error.code != .cancelled, let storage = plan.lookup.warnings.first else { throw error }
    throw CacheError(
      error.code, "\(error.message); and the cache could not be read: \(storage.message)", hint: error.hint,
      cause: error)
  }

  private func request(_ plan: Plan, base: Stored?) async throws(CacheError) -> Snapshot<Value> {
    let rules = services.rules
    let conditions = base.map { rules.believesServer(of: plan.message) ? rules.conditions(on: $0.head) : [:] } ?? [:]
    let requestTime = services.now()
    let answer = try await subject.ask(conditions, completing: plan.lookup.part)
    // What was changed at the origin concerns the cache also where nobody waits for the answer any more.
    if Task.isCancelled, HTTPCacheRules.isSafe(plan.message) { throw .cancelled }
    let exchange = Exchange(
      head: answer.head, status: answer.status, requestTime: requestTime, responseTime: services.now())
    if let response = answer.response { return try await accept(response, exchange, plan) }
    guard let base, !conditions.lines.isEmpty else {
      throw CacheError(.invalidAnswer, "\(subject.origin) confirmed an answer that it was not asked about")
    }
    // A confirmation of something else says nothing about what is stored (RFC 9111, section 4.3.4).
    guard services.rules.confirms(answer.head, base.head) else { return try await request(plan, base: nil) }
    return try await confirm(base, exchange, plan)
  }

  private func confirm(_ base: Stored, _ exchange: Exchange, _ plan: Plan) async throws(CacheError) -> Snapshot<Value> {
    var trace = plan.trace
    var head = services.rules.updated(
      base.head, by: exchange.head, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: &trace)
    if !services.rules.mayStay(head.head, for: plan.message) {
      // The confirmation came with no-store, or the like: it answers this request, and no other.
      head.freshUntil = head.storedAt
      head.retainUntil = head.storedAt
    }
    return try await keep(base.response, head, exchange, confirming: base, plan, trace)
  }

  private func accept(
    _ answer: Subject.Answer, _ exchange: Exchange, _ plan: Plan
  ) async throws(CacheError) -> Snapshot<Value> {
    // Where nothing can stand in, the response is the caller's: each who waits asks for its own.
    if Self.passingFailures.contains(exchange.head.status), canStandIn(plan) {
      throw CacheError(
        .originUnreachable, "\(subject.origin) answered with status \(exchange.head.status)", hint: "try again later")
    }
    var trace = plan.trace
    let stored = services.rules.stored(
      exchange.head, for: plan.message, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: &trace)
    guard let stored else { return try await settle(answer, exchange, plan, trace) }
    let settled = HTTPCacheRules.isSafe(plan.message) ? plan : try await settle(exchange, plan)
    return try await keep(answer, stored, exchange, confirming: nil, settled, trace)
  }

  private func keep(
    _ answer: Subject.Answer, _ head: StoredHead, _ exchange: Exchange, confirming base: Stored?, _ plan: Plan,
    _ trace: CacheTrace
  ) async throws(CacheError) -> Snapshot<Value> {
    var delivery = delivery(
      answer, head, plan, isFromCache: base != nil, forwardStatus: exchange.status)
    var warnings = plan.lookup.warnings
    var key = if let found = plan.lookup.found { found.key } else { try subject.key() }
    do throws(CacheError) {
      key = try await subject.keep(answer, head, confirming: base)
    } catch {
      // Where what was confirmed has been replaced meanwhile, the newer answer stays.
      if error.code != .conflict { try note(error, in: &warnings) }
      delivery.isKept = false
    }
    if head.retainUntil <= head.storedAt {
      // What is of no use after this request is not kept.
      delivery.isKept = false
      delivery.refusal = services.rules.refusal(to: head.head, for: plan.message) ?? "it is stale at once"
    }
    observe(plan, trace)
    return snapshot(delivery, key: key, warnings: warnings)
  }

  private func settle(
    _ answer: Subject.Answer, _ exchange: Exchange, _ plan: Plan, _ trace: CacheTrace
  ) async throws(CacheError) -> Snapshot<Value> {
    let plan = try await settle(exchange, plan)
    observe(plan, trace)
    var delivery = delivery(answer, nil, plan, isFromCache: false, forwardStatus: exchange.status)
    delivery.refusal = services.rules.refusal(to: exchange.head, for: plan.message)
    return snapshot(delivery, key: try subject.key(), warnings: plan.lookup.warnings)
  }

  /// Brings what is stored in line with what the request has changed. A failure becomes a warning of the plan.
  private func settle(_ exchange: Exchange, _ plan: Plan) async throws(CacheError) -> Plan {
    var plan = plan
    do throws(CacheError) {
      try await subject.settle(exchange, plan.lookup.found)
    } catch {
      try note(error, in: &plan.lookup.warnings)
    }
    return plan
  }

  /// Makes a failure of the storage a warning, except that it was cancelled.
  func note(_ error: CacheError, in warnings: inout [CacheError]) throws(CacheError) {
    if error.code == .cancelled { throw error }
    // A storage that is out of use as a whole says the same of reading and of writing: once is enough.
    if !warnings.contains(where: { $0.message == error.message }) { warnings.append(error) }
  }

  private func canStandIn(_ plan: Plan) -> Bool {
    guard let found = plan.lookup.found else { return false }
    var trace = CacheTrace(isRecording: false)
    return services.rules.mayStandIn(found.head, for: plan.message.fields, at: services.now(), trace: &trace)
  }

  private func standIn(_ plan: Plan, for error: CacheError) -> Snapshot<Value>? {
    var plan = plan
    guard let found = plan.lookup.found,
      services.rules.mayStandIn(
        found.head, for: plan.message.fields, at: services.now(), trace: &plan.trace)
    else { return nil }
    plan.lookup.warnings.append(error)
    observe(plan)
    return snapshot(of: found, plan)
  }
}
