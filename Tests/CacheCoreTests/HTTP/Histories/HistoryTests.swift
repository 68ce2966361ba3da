import CacheCore
import EngineAPI
import EngineConformance
import FetchVocabulary
import MemoryStorage
import SeededNumbers
import Testing

/// Random histories of requests to the real cache, and the conditions that all of them must meet.
struct HistoryTests {
  private static let requests = 250

  @Test("no history breaks the rules", arguments: HistorySetting.all)
  func histories(_ setting: HistorySetting) async throws {
    var run = try await HistoryRun(setting)
    for violation in try await run.violations(in: Self.requests) { Issue.record("\(setting): \(violation)") }
    #expect(run.hits > Self.requests / 50, "\(setting): almost nothing came from the store")
  }
}

/// One history: the seed that generates it, and the cache's settings.
struct HistorySetting: Sendable, CustomStringConvertible {
  let seed: UInt64
  let isShared: Bool

  static let all = Thoroughness.seeds(4, of: 12).flatMap { seed in
    [false, true].map { HistorySetting(seed: seed, isShared: $0) }
  }

  /// How long responses without a lifetime are fresh.
  var timeToLive: Duration { seed.isMultiple(of: 2) ? .seconds(10) : .zero }
  /// How long a stale response may be served if the origin fails.
  let staleIfError = Duration.seconds(30)

  var rules: HTTPCacheRules {
    HTTPCacheRules(
      isShared: isShared,
      freshness: FreshnessPolicy(timeToLive: timeToLive, staleIfError: staleIfError, staleWhileRevalidate: .zero))
  }

  var description: String { "seed \(seed), \(isShared ? "shared" : "private") cache" }
}

/// A random sequence of requests, with random changes of the clock between them, and a check of the responses.
struct HistoryRun {
  private let setting: HistorySetting
  private let clock = ManualClock(Timestamp(milliseconds: 1_800_000_000_000))
  private let origin: GeneratedOrigin
  private let engine: any StorageEngine
  private let background = BackgroundWork()
  private let cache: HTTPCache
  private var generator: SeededGenerator
  /// For each URL, how many pieces of content had been sent for it when it last changed.
  private var changes: [String: Int] = [:]
  /// The serial numbers of content that was replaced by later responses that must not be stored.
  private var outdated: Set<Int> = []
  /// The number of seconds since the last change.
  private var sinceChange = 0
  /// The number of responses from the store: a history without hits checks nothing.
  private(set) var hits = 0

  init(_ setting: HistorySetting) async throws {
    self.setting = setting
    generator = SeededGenerator(seed: setting.seed)
    origin = GeneratedOrigin(seed: ~setting.seed, clock: clock)
    let plugin = MemoryPlugin()
    engine = try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock))
    cache = HTTPCache(
      responses: URLResponses(store: EntryStore(engine: engine, clock: clock)), transfer: origin,
      services: FetchServices(
        rules: setting.rules, now: { [clock] in .milliseconds(clock.now.milliseconds) }, background: background))
  }

  /// Makes `count` requests, and returns the violations with the numbers of their requests.
  mutating func violations(in count: Int) async throws -> [String] {
    var violations: [String] = []
    for step in 1...count {
      advance()
      let request = GeneratedRequest.random(&generator)
      let known = origin.contents
      let answer = await answer(to: request.message)
      await background.finish()
      let invariants = HistoryInvariants(
        setting: setting, request: request, now: .milliseconds(clock.now.milliseconds), known: known,
        events: origin.takeEvents())
      let found = [violation(of: answer, invariants), try await violationOfStore(invariants)].compactMap(\.self)
      outdate(invariants)
      violations += found.map { "request \(step), \(request.message.method) \(request.message): \($0)" }
    }
    return violations
  }

  /// Moves the clock: usually a few seconds, sometimes years, sometimes back. But never behind the last change, because
  /// a change does not look for expired entries when it invalidates others.
  private mutating func advance() {
    let seconds =
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: 100_000_000
      case 1: -min(Int.random(in: 1...30, using: &generator), sinceChange)
      default: Int.random(in: 0...12, using: &generator)
      }
    clock.advance(by: .seconds(seconds))
    sinceChange += seconds
  }

  private func answer(to request: HTTP.Request) async -> Result<Snapshot<HTTP.Response>, CacheError> {
    do throws(CacheError) {
      var snapshots = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      guard let snapshot = try await snapshots.next() else { return .failure(CacheError(.notFound, "no snapshot")) }
      return .success(snapshot)
    } catch { return .failure(error) }
  }

  private mutating func violation(
    of answer: Result<Snapshot<HTTP.Response>, CacheError>, _ invariants: HistoryInvariants
  ) -> String? {
    let (request, events) = (invariants.request, invariants.events)
    if request.flags.contains("only-if-cached"), ["GET", "HEAD"].contains(request.message.method), !events.isEmpty {
      return "only-if-cached asked the origin"
    }
    guard case .success(let snapshot) = answer else {
      return events.last == .failed ? nil : "it failed, and the origin did not: \(answer)"
    }
    switch request.message.method {
    case "GET": return violation(of: snapshot, invariants)
    case "HEAD": return nil
    default:
      if (200..<400).contains(snapshot.value.head.status) {
        changes[request.message.url] = origin.contents.count
        sinceChange = 0
      }
      let expected = request.flags.contains("only-if-cached") ? 0 : 1
      return events.count == expected ? nil : "the origin was asked \(events.count) times for a change"
    }
  }

  private mutating func violation(of snapshot: Snapshot<HTTP.Response>, _ invariants: HistoryInvariants) -> String? {
    let response = snapshot.value
    if response.head.status == 504, response.body.isEmpty, invariants.request.flags.contains("only-if-cached") {
      return nil
    }
    guard let content = GeneratedContent.content(of: response.body, among: origin.contents) else {
      return "the origin never gave \(String(decoding: response.body, as: UTF8.self))"
    }
    if content.status != response.head.status { return "its status was \(content.status)" }
    guard content.serial <= invariants.known.count else {
      return snapshot.source == .origin ? nil : "it is new, and said to come from the store"
    }
    let stored = invariants.known[content.serial - 1]
    if outdated.contains(stored.serial) { return "content \(stored.serial) was replaced" }
    if stored.serial <= changes[stored.request.url] ?? 0 { return "content \(stored.serial) was made invalid" }
    if snapshot.isRevalidated {
      return invariants.events.contains(.confirmed(stored.serial)) ? nil : "the origin has not confirmed it"
    }
    hits += 1
    return invariants.violation(ofStored: response, stored)
  }

  /// RFC 9111, section 4.3.3: a response that is not stored replaces the responses that its request selected.
  private mutating func outdate(_ invariants: HistoryInvariants) {
    for case .gave(let serial) in invariants.events {
      let content = origin.contents[serial - 1]
      guard content.request.method == "GET", invariants.isForbidden(content) else { continue }
      let replaced = invariants.known.filter { $0.request.url == content.request.url && invariants.selects($0) }
      outdated.formUnion(replaced.map(\.serial))
      sinceChange = 0
    }
  }

  /// Checks everything in the store.
  private func violationOfStore(_ invariants: HistoryInvariants) async throws -> String? {
    let contents = origin.contents
    // A signpost to several responses has no content.
    for entry in try await engine.scan(ScanRequest()).entries where entry.metadata.attributes[":variants"] == nil {
      let body = try await engine.read(entry.key) { bytes, _ throws(CacheError) in
        bytes.withUnsafeBufferPointer { Array($0) }
      }
      guard let body, let content = GeneratedContent.content(of: body, among: contents) else {
        return "something else is stored"
      }
      if invariants.isForbidden(content) { return "content \(content.serial) is stored, and was not to be" }
    }
    return nil
  }
}

/// The conditions that every response must meet, independent of earlier requests.
struct HistoryInvariants: Sendable {
  let setting: HistorySetting
  let request: GeneratedRequest
  let now: Duration
  /// The content that the origin had sent before this request.
  let known: [GeneratedContent]
  /// The results of the requests to the origin, including those in the background afterwards.
  let events: [GeneratedOrigin.Event]

  /// Returns the rule that `response` breaks. It comes from the store, and the origin has not confirmed it.
  func violation(ofStored response: HTTP.Response, _ content: GeneratedContent) -> String? {
    if content.request.url != request.message.url { return "it was given for \(content.request.url)" }
    if isForbidden(content) { return "it was not to be stored" }
    if !selects(content) { return "it was given for other fields" }
    if !content.heads.contains(where: { mayServe($0, content) }) { return "nothing permits to use it now" }
    let ages = content.heads.map { String($0.age(at: now).components.seconds) }
    guard let age = response.head.fields["Age"], ages.contains(age) else {
      return "its Age is \(response.head.fields["Age"] ?? "missing"), not \(ages.joined(separator: " or "))"
    }
    return nil
  }

  /// Whether `content` must never be in the store.
  func isForbidden(_ content: GeneratedContent) -> Bool {
    guard let head = content.heads.first else { return true }
    let mayKeepCredentials = ["public", "must-revalidate", "s-maxage"].contains { head.has($0) }
    return head.forbidsStoring(setting) || content.vary == "*" || content.request.method != "GET"
      || content.request.fields["Cache-Control"] == "no-store"
      || setting.isShared && content.isForCredentials && !mayKeepCredentials
  }

  /// Whether the request selects `content`, if that is stored.
  func selects(_ content: GeneratedContent) -> Bool {
    let names = content.vary.isEmpty ? [] : content.vary.split(separator: ", ").map(String.init)
    // RFC 9111, section 3.5: if a shared cache stores a response to a request with credentials, it is for all users.
    let isForEverybody = setting.isShared && content.request.fields.contains("Authorization")
    return (names + (isForEverybody ? [] : ["Authorization"])).allSatisfy {
      request.message.fields[$0] == content.request.fields[$0]
    }
  }

  private func mayServe(_ head: GeneratedHead, _ content: GeneratedContent) -> Bool {
    let remaining = head.remaining(at: now, setting)
    let excess = request.maxAge.map { head.age(at: now) - $0 } ?? .zero
    if events.contains(.failed), !head.forbidsStaleness(setting), !request.flags.contains("no-cache"),
      request.maxStale.map({ max(.zero - remaining, excess) <= $0 }) ?? true
    {
      // RFC 5861, section 4: this overrides everything else about freshness.
      if .zero - remaining < head.seconds("stale-if-error") ?? setting.staleIfError { return true }
    }
    if head.has("no-cache") || request.flags.contains("no-cache") { return false }
    if remaining > .zero, excess <= .zero { return remaining >= request.minFresh }
    if head.forbidsStaleness(setting) { return false }
    if let maxStale = request.maxStale, max(.zero - remaining, excess) <= maxStale { return true }
    return request.maxAge == nil && request.maxStale == nil
      && .zero - remaining < head.seconds("stale-while-revalidate") ?? .zero
  }
}
