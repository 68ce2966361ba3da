internal import CacheDomain

/// One request for all that ask for the same at once.
extension CachedFetch {
  /// What came of asking the origin.
  struct Outcome: Sendable {
    /// What the caller gets.
    let result: Result<Snapshot<Value>, CacheError>
    /// The failure of the origin, also where a stored response stands in for it.
    var failure: CacheError?
  }

  /// How often a fetch boards: a second time where the flight that it waited for has vanished.
  private static var maximumBoardings: Int { 2 }

  /// One asks, the others wait and take what was stored, or take the failure for their own.
  func askOrigin(_ plan: Plan) async throws(CacheError) -> Snapshot<Value> {
    guard let flight = try subject.flight() else { return try await exchange(plan).result.get() }
    for _ in 0..<Self.maximumBoardings {
      switch try await services.flights.board(flight) {
      case .landed(let failure):
        if let failure { return try fail(plan, with: failure) }
        if let snapshot = try await follow(plan) { return snapshot }
        return try await lead(plan).result.get()
      case .vanished:
        if let snapshot = try await follow(plan) { return snapshot }
      case .leading(let ticket):
        let outcome = await lead(plan)
        await services.flights.land(ticket, failure: outcome.failure.flatMap { $0.isOfOrigin ? $0 : nil })
        return try outcome.result.get()
      }
    }
    return try await lead(plan).result.get()
  }

  /// Another caller's answer may have been stored between the look-up and boarding.
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

  /// What was stored while this fetch waited answers it, as fresh as if the origin had been asked. `nil` where nothing
  /// was: an answer that was received before this fetch began may have been stored only after its look-up.
  private func follow(_ plan: Plan) async throws(CacheError) -> Snapshot<Value>? {
    var plan = plan
    guard let found = try await newlyFound(&plan), found.head.storedAt >= plan.startedAt else { return nil }
    observe(plan)
    return snapshot(of: found, plan)
  }

  /// What a second look-up finds that the first one did not. Its failure becomes a warning of the plan.
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
  fileprivate var isOfOrigin: Bool {
    [.originUnreachable, .invalidAnswer, .notFound, .invalidRequest].contains(code)
  }
}
