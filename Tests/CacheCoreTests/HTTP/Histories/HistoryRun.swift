import CacheCore
import FetchVocabulary
import MemoryStorage
import EngineConformance
import EngineAPI

/// A random sequence of requests, with random changes of the clock between them, and a check of the answers.
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
  /// The serial numbers of content that later answers, which were not to be stored, have replaced.
  private var outdated: Set<Int> = []
  /// The number of seconds since the last change.
  private var sinceChange = 0
  /// The number of answers from the store: a history without any checks nothing.
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

  private func answer(to request: HTTPRequest) async -> Result<Snapshot<HTTPResponse>, CacheError> {
    do throws(CacheError) {
      var snapshots = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      guard let snapshot = try await snapshots.next() else { return .failure(CacheError(.notFound, "no snapshot")) }
      return .success(snapshot)
    } catch {
      return .failure(error)
    }
  }

  private mutating func violation(
    of answer: Result<Snapshot<HTTPResponse>, CacheError>, _ invariants: HistoryInvariants
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

  private mutating func violation(of snapshot: Snapshot<HTTPResponse>, _ invariants: HistoryInvariants) -> String? {
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

  /// RFC 9111, section 4.3.3: an answer that is not stored replaces what its request selected.
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
