internal import FetchVocabulary

/// Asking the origin, and acting on its answer.
extension CachedFetch {
  /// Statuses with which an origin says that it cannot answer now (RFC 5861, section 4; RFC 6585, section 4).
  private static var passingFailures: Set<Int> { [429, 500, 502, 503, 504] }

  /// Asks the origin and stores its answer. If the origin fails in a way that may pass, the entry that the look-up
  /// found answers instead (RFC 5861, section 4).
  func exchange(_ plan: Plan) async -> Outcome {
    // A change must find every request whose answer may be stored.
    guard plan.flight == nil, plan.message.isSafe, let key = try? subject.key() else { return await ask(plan) }
    var plan = plan
    let flight = services.flights.begin(key)
    plan.flight = flight
    let outcome = await ask(plan)
    await services.flights.finish(flight)
    return outcome
  }

  private func ask(_ plan: Plan) async -> Outcome {
    do throws(CacheError) {
      return try await request(plan, base: plan.lookup.found)
    } catch {
      // The connection broke off because the task was cancelled: a stored entry must not hide that.
      if Task.isCancelled { return Outcome(result: .failure(.cancelled)) }
      let shared: FlightResult = error.isOfOrigin ? .failure(error) : .success(nil)
      do throws(CacheError) {
        return Outcome(result: .success(try fail(plan, with: error)), shared: shared)
      } catch let ownFailure {
        return Outcome(result: .failure(ownFailure), shared: shared)
      }
    }
  }

  /// Ends a fetch whose origin failed, whether this fetch asked it or another one did: with a stale entry, or by
  /// throwing.
  ///
  /// - Parameter isShared: whether another fetch asked it.
  func fail(_ plan: Plan, with error: CacheError, isShared: Bool = false) throws(CacheError) -> Snapshot<Value> {
    var plan = plan
    if error.mayBeStoodInFor, let found = plan.lookup.found, canStandIn(&plan) {
      guard !plan.options.requiresFresh || isFresh(found, plan) else {
        observe(plan)
        throw CacheError(
          error.code, "\(error.message); only a stale copy is in the cache", hint: error.hint, cause: error)
      }
      plan.lookup.warnings.append(error)
      observe(plan)
      let status = (error.cause as? OriginFailure)?.status
      var snapshot = snapshot(of: found, plan, insteadOf: OriginFailure(status: status, isShared: isShared))
      if let report = plan.report { snapshot.shared = [SharedWarnings([error], report)] }
      return snapshot
    }
    observe(plan)
    // A readable cache might have answered in the origin's place, so report both failures.
    guard error.code != .cancelled, let storage = plan.lookup.warnings.first else { throw error }
    throw CacheError(
      error.code, "\(error.message); and the cache could not be read: \(storage.message)", hint: error.hint,
      cause: error)
  }

  private func request(_ plan: Plan, base: Stored?) async throws(CacheError) -> Outcome {
    let rules = services.rules
    let conditions = base.map { rules.believesServer(of: plan.message) ? rules.conditions(on: $0.head) : [:] } ?? [:]
    let requestTime = services.now()
    let answer = try await subject.ask(conditions, completing: plan.lookup.part, during: plan.flight)
    // What changed at the origin must change the cache, even if the caller no longer waits for the answer.
    if Task.isCancelled, plan.message.isSafe { throw .cancelled }
    let exchange = OriginExchange(
      head: answer.head, status: answer.status, requestTime: requestTime, responseTime: services.now())
    if let response = answer.response { return try await accept(response, exchange, plan) }
    guard let base, !conditions.lines.isEmpty else {
      throw CacheError(
        .invalidAnswer, "\(subject.origin) confirmed a stored response (304), and the request did not name one",
        hint: "try again later: the server is at fault", cause: OriginFailure(status: exchange.status))
    }
    // A 304 about another response says nothing about the stored one (RFC 9111, section 4.3.4).
    guard services.rules.confirms(answer.head, base.head) else { return try await request(plan, base: nil) }
    return try await confirm(base, exchange, plan)
  }

  private func confirm(_ base: Stored, _ exchange: OriginExchange, _ plan: Plan) async throws(CacheError) -> Outcome {
    var trace = plan.trace
    var head = services.rules.updated(
      base.head, by: exchange.head, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: &trace)
    if !services.rules.mayStay(head.head, for: plan.message) {
      // The 304 came with no-store or the like: use the response for this request only.
      head.freshUntil = head.storedAt
      head.retainUntil = head.storedAt
    }
    return try await keep(base.response, head, exchange, confirming: base, plan, trace)
  }

  private func accept(
    _ answer: Subject.Answer, _ exchange: OriginExchange, _ plan: Plan
  ) async throws(CacheError) -> Outcome {
    // With no stored entry to fall back on, return the response as it is. It is not shared: each waiting fetch asks for
    // its own.
    var failed = plan
    if Self.passingFailures.contains(exchange.head.status), canStandIn(&failed) {
      throw CacheError(
        .originUnreachable, "\(subject.origin) answered with status \(exchange.head.status)", hint: "try again later",
        cause: OriginFailure(status: exchange.status))
    }
    var trace = plan.trace
    let stored = services.rules.stored(
      exchange.head, for: plan.message, requestTime: exchange.requestTime, responseTime: exchange.responseTime,
      trace: &trace)
    guard let stored else { return try await settle(answer, exchange, plan, trace) }
    let settled = plan.message.isSafe ? plan : try await settle(exchange, plan)
    return try await keep(answer, stored, exchange, confirming: nil, settled, trace)
  }

  private func keep(
    _ answer: Subject.Answer, _ head: StoredHead, _ exchange: OriginExchange, confirming base: Stored?, _ plan: Plan,
    _ trace: CacheTrace
  ) async throws(CacheError) -> Outcome {
    var delivery = delivery(
      answer, head, plan, isFromCache: base != nil, forwardStatus: exchange.status)
    var warnings = plan.lookup.warnings
    var key = if let found = plan.lookup.found { found.key } else { try subject.key() }
    do throws(CacheError) {
      key = try await subject.keep(answer, head, confirming: base, ending: plan.flight)
    } catch {
      // On a conflict a newer answer has replaced the entry, or the resource has changed meanwhile.
      if error.code != .conflict {
        try note(error, in: &warnings)
      } else if await !isReplaced(base, plan) {
        delivery.refusal = "it was changed while it was fetched"
      }
      delivery.isKept = false
      // What the answer should have replaced is outdated. If it cannot be removed either, the warning says enough.
      if base == nil, error.isOfRoom { try? await subject.settle(exchange, during: plan.flight) }
    }
    if head.retainUntil <= head.storedAt {
      // Nothing can use the response after this request, so it is not kept.
      delivery.isKept = false
      delivery.refusal = services.rules.refusal(to: head.head, for: plan.message) ?? "it is stale at once"
    }
    observe(plan, trace)
    var snapshot = snapshot(delivery, key: key, warnings: warnings)
    if let report = plan.report { snapshot.shared = [SharedWarnings(warnings, report)] }
    guard !delivery.isKept, subject.mayShare(answer, head) else { return Outcome(result: .success(snapshot)) }
    delivery.isCollapsed = true
    let shared = SharedAnswer(delivery: delivery, key: key, warnings: warnings)
    return Outcome(result: .success(snapshot), shared: .success(shared))
  }

  private func settle(
    _ answer: Subject.Answer, _ exchange: OriginExchange, _ plan: Plan, _ trace: CacheTrace
  ) async throws(CacheError) -> Outcome {
    let plan = try await settle(exchange, plan)
    observe(plan, trace)
    var delivery = delivery(answer, nil, plan, isFromCache: false, forwardStatus: exchange.status)
    delivery.refusal = services.rules.refusal(to: exchange.head, for: plan.message)
    let snapshot = snapshot(delivery, key: try subject.key(), warnings: plan.lookup.warnings)
    return Outcome(result: .success(snapshot))
  }

  /// Updates or removes the entries that the request affects. A failure becomes a warning of the plan.
  private func settle(_ exchange: OriginExchange, _ plan: Plan) async throws(CacheError) -> Plan {
    var plan = plan
    do throws(CacheError) {
      try await subject.settle(exchange, during: plan.flight)
    } catch {
      try note(error, in: &plan.lookup.warnings)
    }
    return plan
  }

  /// Turns a failure of the storage into a warning, but throws a cancellation.
  func note(_ error: CacheError, in warnings: inout [CacheError]) throws(CacheError) {
    if error.code == .cancelled { throw error }
    // A storage that fails altogether gives the same error on reading and on writing: report it once.
    if !warnings.contains(where: { $0.message == error.message }) { warnings.append(error) }
  }

  /// Whether a newer answer than `base` is stored, so that the confirmation of `base` could not be.
  private func isReplaced(_ base: Stored?, _ plan: Plan) async -> Bool {
    guard let base, plan.flight?.isOutdated != true else { return false }
    guard let found = try? await subject.lookUp(isCounted: false).found else { return false }
    return found.head.storedAt > base.head.storedAt
  }

  /// Whether `found` is fresh now, by all that the caller demands.
  private func isFresh(_ found: Stored, _ plan: Plan) -> Bool {
    var trace = CacheTrace(isRecording: false)
    let decision = services.rules.decision(
      for: plan.message, stored: found.head, options: plan.options, now: services.now(), trace: &trace)
    return decision.action == .serve
  }

  /// Whether the entry that the look-up found may be served because the origin failed. Records that in the plan's trace.
  private func canStandIn(_ plan: inout Plan) -> Bool {
    guard let found = plan.lookup.found else { return false }
    return services.rules.mayStandIn(
      found.head, for: plan.message.fields, options: plan.options, at: services.now(), trace: &plan.trace)
  }
}

extension CacheError {
  /// Whether an entry could not be stored for want of room or because of its size, so that removing one may succeed.
  fileprivate var isOfRoom: Bool { [.noSpace, .tooLarge, .overBounds, .ioFailed].contains(code) }
}
