import FetchVocabulary
import SeededNumbers
import Testing

@testable import HTTPCaching

/// Random requests, responses and clocks: the rules and the model must agree at each step.
struct GeneratedHistoryTests {
  @Test(arguments: [false, true], (0..<2).map { _ in UInt64.random(in: 0...UInt64.max) })
  func theRulesDecideAsTheModelDoes(isShared: Bool, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      var history = History(isShared: isShared, seed: seed, &generator)
      for _ in 0..<40 { try history.step(&generator) }
    }
  }

  /// Makes sure that the histories contain every outcome: otherwise they would prove nothing.
  @Test(arguments: [false, true]) func everythingHappens(isShared: Bool) throws {
    var (generator, seen) = (SeededGenerator(seed: 9_111), Set<String>())
    for _ in 0..<100 {
      var history = History(isShared: isShared, seed: 9_111, &generator)
      for _ in 0..<40 { try history.step(&generator) }
      seen.formUnion(history.seen)
    }
    #expect(
      seen == [
        "serve", "serveThenRevalidate", "revalidate", "fetch", "fail", "stored", "not stored", "confirmed",
        "contradicted",
        "invalidated", "superseded", "serves stale", "fails",
      ])
  }
}

/// One URL in a cache: the rules' and the model's records of each stored response.
private struct History {
  private let rules: HTTPCacheRules
  private let model: RFC9111Model
  private let label: String
  private var entries: [(head: StoredHead, model: RFC9111Model.Entry)] = []
  private var now = 0
  private(set) var seen: Set<String> = []

  init(isShared: Bool, seed: UInt64, _ generator: inout SeededGenerator) {
    let (live, refresh, fail) = (
      generator.pick([0, 30, 99_999]), generator.pick([0, 0, 20]), generator.pick([0, 100])
    )
    let byLastModified = generator.pick([false, true])
    var rules = HTTPCacheRules.testing(
      isShared: isShared, timeToLive: live, staleIfError: fail, staleWhileRevalidate: refresh)
    rules.heuristic = byLastModified ? .lastModified : .timeToLive
    self.rules = rules
    model = RFC9111Model(
      isShared: isShared, guessesByLastModified: byLastModified, timeToLive: live, staleWhileRevalidate: refresh,
      staleIfError: fail)
    label = "seed \(seed), shared: \(isShared)"
  }

  /// Ends the history if rules and model disagree. Describes the state only then.
  private func check(_ isSame: Bool, _ what: @autoclosure () -> String) throws {
    if !isSame { try #require(isSame, Comment(rawValue: what())) }
  }

  private var time: Duration { received + .seconds(now) }

  mutating func step(_ generator: inout SeededGenerator) throws {
    now += generator.pick([0, 0, 1, 5, 30, 70, 1_000, -40])
    let request = ModelRequest.random(&generator)
    let found = try select(request)
    let outcome = try decide(request, found)
    seen.insert("\(outcome)")
    guard outcome != .serve, outcome != .fail else { return }
    if generator.isOne(in: 8) { return try fail(request, found) }
    let sent = now
    now += generator.pick([0, 0, 2, -3])
    if let found, outcome != .fetch, generator.isOne(in: 2), entries[found].head.hasValidator {
      return try confirm(found, sent, &generator)
    }
    try answer(request, sent, &generator)
  }

  /// The index of the latest response that the request selects.
  private func select(_ request: ModelRequest) throws -> Int? {
    let message = request.message
    let selected = entries.indices.filter { entries[$0].head.selector.selects(message) }
    try check(selected == entries.indices.filter { model.matches(entries[$0].model, request) }, "\(label): \(request)")
    return selected.last
  }

  private func decide(_ request: ModelRequest, _ found: Int?) throws -> RFC9111Model.Outcome {
    let entry = found.map { entries[$0] }
    let trace = CacheTrace()
    let decision = rules.decision(
      for: request.message, stored: entry?.head, options: FetchOptions(), now: time, trace: trace)
    let expected = model.outcome(entry?.model, request, at: now)
    let what = { "\(label): \(request) at \(now), stored \(String(describing: entry?.model)): \(trace.criteria)" }
    try check(decision.action.rawValue == "\(expected)", what())
    try check(!trace.criteria.isEmpty && !decision.reason.isEmpty, what())
    if let entry { try compare(entry.head, entry.model, what()) }
    return expected
  }

  private func compare(_ head: StoredHead, _ entry: RFC9111Model.Entry, _ what: @autoclosure () -> String) throws {
    let age = model.currentAge(entry, at: now)
    try check(head.age(at: time) == age, what())
    if rules.directives(head.head).needsRevalidation { return }
    try check(head.remainingFreshness(at: time) == age.map { model.lifetime(entry) - $0 }, what())
  }

  private mutating func fail(_ request: ModelRequest, _ found: Int?) throws {
    guard let found else { return }
    let entry = entries[found]
    let servesStale = rules.canServeStale(entry.head, for: request.message.fields, at: time)
    try check(
      servesStale == model.canServeStale(entry.model, request, at: now),
      "\(label): \(request) at \(now), \(entry.model)")
    seen.insert(servesStale ? "serves stale" : "fails")
  }

  private mutating func confirm(_ found: Int, _ sent: Int, _ generator: inout SeededGenerator) throws {
    let entry = entries[found]
    let news = entry.model.response.confirmation(at: now, &generator)
    let confirms = rules.confirms(news.head, entry.head)
    try check(confirms == model.confirms(news, entry.model), "\(label): \(news) of \(entry.model)")
    seen.insert(confirms ? "confirmed" : "contradicted")
    guard confirms else { return }
    entries[found].head = rules.updated(
      entry.head, by: news.head, requestTime: received + .seconds(sent), responseTime: time)
    entries[found].model = model.updated(entry.model, by: news, requestTime: sent, responseTime: now)
    try compare(entries[found].head, entries[found].model, "\(label): \(news) of \(entry.model)")
  }

  private mutating func answer(_ request: ModelRequest, _ sent: Int, _ generator: inout SeededGenerator) throws {
    let response = ModelResponse.random(at: now, &generator)
    let invalidated = rules.invalidated(by: response.head, to: request.message)
    try check(invalidated.isEmpty != model.invalidates(response, request), "\(label): \(request), \(response)")
    if !invalidated.isEmpty {
      seen.insert("invalidated")
      entries = []
    }
    let stored = rules.stored(
      response.head, for: request.message, requestTime: received + .seconds(sent), responseTime: time)
    try check((stored != nil) == model.mayStore(response, to: request), "\(label): \(request), \(response)")
    seen.insert(stored == nil ? "not stored" : "stored")
    guard let stored else { return try supersede(response, request) }
    entries.removeAll { model.matches($0.model, request) }
    let entry = RFC9111Model.Entry(
      response: response, requestTime: sent, responseTime: now, selecting: request.selecting,
      credentials: request.credentials)
    entries.append((stored, entry))
  }

  private mutating func supersede(_ response: ModelResponse, _ request: ModelRequest) throws {
    guard ["GET", "HEAD"].contains(request.method) else { return }
    for index in entries.indices.reversed() where model.matches(entries[index].model, request) {
      let expected = model.supersession(by: response, to: request)
      try check(
        rules.supersession(of: entries[index].head, by: response.head, to: request.message) == expected,
        "\(label): \(request), \(response)")
      guard expected == .removed else { continue }
      seen.insert("superseded")
      entries.remove(at: index)
    }
  }
}
