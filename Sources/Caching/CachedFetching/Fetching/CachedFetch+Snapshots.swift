internal import FetchVocabulary

/// Making snapshots and explanations for the caller.
extension CachedFetch {
  func snapshot(of found: Stored, _ plan: Plan) -> Snapshot<Value> {
    let delivery = delivery(found.response, found.head, plan, isFromCache: true, forwardStatus: nil)
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
