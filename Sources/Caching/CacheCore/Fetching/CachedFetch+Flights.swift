internal import FetchVocabulary

/// Single flight: concurrent fetches of the same thing share one request.
extension CachedFetch {
  /// How asking the origin ended.
  struct Outcome: Sendable {
    /// What the caller gets.
    let result: Result<Snapshot<Value>, CacheError>
    /// What the callers get that wait for this one: the origin's failure, even if a stored response answers in its
    /// place, or an answer that the cache could not store.
    var shared: FlightResult = .success(nil)
  }

  /// An answer that the cache could not store, for the callers that wait for it.
  struct SharedAnswer: Sendable {
    let delivery: Delivery<Subject.Answer>
    let key: String
    let warnings: [CacheError]
  }

  /// How often a fetch joins a flight: a second time if the flight it waited for vanished.
  private static var maximumJoins: Int { 2 }

  /// One fetch asks the origin. The others wait, and take what it stored or share its failure. The request continues as
  /// long as one of them waits.
  func askOrigin(_ plan: Plan) async throws(CacheError) -> Snapshot<Value> {
    guard let flight = try subject.flight() else { return try await exchange(plan).result.get() }
    for _ in 0..<Self.maximumJoins {
      switch try await services.flights.join(flight) {
      case .finished(.failure(let failure), let flight):
        var plan = plan
        plan.report = flight.report
        return try fail(plan, with: failure, isShared: true)
      case .finished(.success(let shared), let flight):
        if let snapshot = try await follow(plan) { return snapshot }
        // An answer received before this fetch began may be handed on only now, because storing it took long.
        guard let shared = shared as? SharedAnswer, let head = shared.delivery.stored, head.storedAt >= plan.startedAt
        else { return try await lead(plan).result.get() }
        observe(plan)
        var snapshot = snapshot(shared.delivery, key: shared.key, warnings: shared.warnings)
        snapshot.shared = [SharedWarnings(shared.warnings, flight.report)]
        return snapshot
      case .vanished:
        if let snapshot = try await follow(plan) { return snapshot }
      case .leading(let ticket):
        return try await lead(plan, ticket).result.get()
      }
    }
    return try await lead(plan).result.get()
  }

  /// Leads the flight of `ticket` in a task of its own, so that the request does not end with this caller if others
  /// wait for it.
  private func lead(_ plan: Plan, _ ticket: FlightTicket) async -> Outcome {
    var plan = plan
    (plan.flight, plan.report) = (ticket, ticket.report)
    let (outcomes, source) = AsyncStream.makeStream(of: Outcome.self)
    let request = FlightTicket.led.withValue(FlightTicket.led.get() + [ticket]) {
      Task { [plan] in
        let outcome = await lead(plan)
        await services.flights.finish(ticket, outcome.shared)
        source.yield(outcome)
        source.finish()
        return outcome
      }
    }
    ticket.whenLeft { request.cancel() }
    for await outcome in outcomes { return outcome }
    // This caller was cancelled. The last one to leave waits until the request has ended.
    return ticket.leave() ? Outcome(result: .failure(.cancelled)) : await request.value
  }

  /// Looks again first: another fetch may have stored the answer between this fetch's look-up and its flight.
  private func lead(_ plan: Plan) async -> Outcome {
    guard plan.options.policy != .networkOnly else { return await exchange(plan) }
    var plan = plan
    let newlyFound: Stored?
    do throws(CacheError) {
      newlyFound = try await self.newlyFound(&plan)
    } catch {
      return Outcome(result: .failure(error))
    }
    guard let found = newlyFound else { return await exchange(plan) }
    plan.lookup = Lookup(found: found)
    plan.decision = services.rules.decision(
      for: plan.message, stored: found.head, options: plan.options, now: services.now(), trace: &plan.trace)
    guard plan.decision.action == .serve else { return await exchange(plan) }
    observe(plan)
    return Outcome(result: .success(snapshot(of: found, plan)))
  }

  /// Returns what another fetch stored while this one waited; it counts as fresh as an answer from the origin. `nil` if
  /// there is nothing new: an answer received before this fetch began may be stored only after its look-up.
  private func follow(_ plan: Plan) async throws(CacheError) -> Snapshot<Value>? {
    var plan = plan
    guard let found = try await newlyFound(&plan), found.head.storedAt >= plan.startedAt else { return nil }
    observe(plan)
    return snapshot(of: found, plan)
  }

  /// Returns what a second look-up finds and the first one did not. A failure becomes a warning of the plan.
  private func newlyFound(_ plan: inout Plan) async throws(CacheError) -> Stored? {
    do throws(CacheError) {
      let found = try await subject.lookUp(isCounted: false).found
      return found?.head == plan.lookup.found?.head ? nil : found
    } catch {
      try note(error, in: &plan.lookup.warnings)
      return nil
    }
  }
}

extension CacheError {
  /// Whether the origin failed, rather than the store or the caller. Concurrent fetches of the same resource share such
  /// an error instead of asking again. They do not share a store's failure or a cancellation, nor refused credentials:
  /// another caller's credentials may be valid.
  var isOfOrigin: Bool {
    [.originUnreachable, .invalidAnswer, .notFound, .invalidRequest].contains(code)
  }
}
