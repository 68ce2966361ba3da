import CacheCore
import EngineAPI
import EngineConformance
import FetchVocabulary
import MemoryStorage

/// One case, run as the suite's client runs it, with its own store, clock and origin.
struct SuiteRun {
  /// Why a case fails.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// How long responses are kept if the origin does not say: the configuration's defaults.
  private static let freshness = FreshnessPolicy(
    timeToLive: .seconds(3_600), staleIfError: .seconds(7 * 86_400), staleWhileRevalidate: .zero)

  private let test: SuiteCase
  private let setting: SuiteSetting
  private let clock = ManualClock(Timestamp(milliseconds: 1_800_000_000_000))
  private let origin: ScriptedOrigin
  private let background = BackgroundWork()
  private let cache: HTTPCache

  init(_ test: SuiteCase, _ setting: SuiteSetting) async throws {
    self.test = test
    self.setting = setting
    origin = ScriptedOrigin(test, setting, clock: clock)
    let plugin = MemoryPlugin()
    let engine = try await plugin.open(EngineConfiguration(for: plugin.declaration, clock: clock))
    let services = FetchServices(
      rules: HTTPCacheRules(isShared: setting.isShared, freshness: Self.freshness),
      now: { [clock] in .milliseconds(clock.now.milliseconds) }, background: background)
    let transfer: any DataTransferService = setting.carrier == .network ? try LoopbackTransfer(origin) : origin
    cache = HTTPCache(
      responses: URLResponses(store: EntryStore(engine: engine, clock: clock)), transfer: transfer, services: services)
  }

  /// Why the case fails; `nil` if it passes.
  func failure() async -> Failure? {
    var responses: [HTTP.Response] = []
    do throws(Failure) {
      for (index, exchange) in test.exchanges.enumerated() {
        let response = try await response(to: request(exchange, index + 1, after: responses.last))
        try SuiteChecks(test: test, exchange: exchange, number: index + 1).check(response)
        responses.append(response)
        await background.finish()
        if exchange.pauses { clock.advance(by: .seconds(3)) }
      }
      try SuiteChecks.check(origin.records, of: test, responses)
      return nil
    } catch { return error }
  }

  /// A shared cache is one that clients reach over HTTP. So it responds with 502 if it gets no response (RFC 9110,
  /// section 15.6.3). In a private cache a failed fetch fails the case, as in a browser.
  private func response(to request: HTTP.Request) async throws(Failure) -> HTTP.Response {
    do throws(CacheError) {
      var last: HTTP.Response?
      var snapshots = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      while let snapshot = try await snapshots.next() { last = snapshot.value }
      if let last { return last }
    } catch {
      if setting.isShared { return HTTP.Response(HTTP.ResponseHead(status: 502)) }
      throw Failure("the fetch failed: \(error.message)")
    }
    throw Failure("there was no response")
  }

  private func request(_ exchange: SuiteExchange, _ number: Int, after previous: HTTP.Response?) -> HTTP.Request {
    // The suite's client sends these to disable its own cache.
    var fields: HTTP.Fields = setting.isShared ? ["Pragma": "foo", "Cache-Control": "nothing-to-see-here"] : [:]
    let start = previous?.head.fields["Server-Now"].flatMap { Int($0) } ?? 0
    for line in exchange.ask.fields(datedFrom: .seconds(start)).lines { fields.append(line.name, line.value) }
    fields.append("Test-ID", test.id)
    fields.append("Req-Num", String(number))
    let url = "\(ScriptedOrigin.base)/test/\(test.id)\(exchange.target)"
    return HTTP.Request(
      method: exchange.method, url: url, fields: setting.delivered(fields), body: Array(exchange.content.utf8))
  }
}

/// How to run the cases: for which kind of cache, and over which connection to the origin.
struct SuiteSetting: Sendable, CustomStringConvertible, CaseIterable {
  /// The connection to the origin.
  enum Carrier: String, Sendable, CaseIterable {
    /// A call in this process, which keeps lines apart.
    case call
    /// The same, but joins several lines of one field by commas, as URLSession does.
    case joiningCall
    /// The tool's transport, to a server on the loopback interface.
    case network
  }

  let isShared: Bool
  let carrier: Carrier

  static let allCases = [false, true].flatMap { isShared in
    Carrier.allCases.map { SuiteSetting(isShared: isShared, carrier: $0) }
  }

  var description: String { "\(isShared ? "shared" : "private") cache, \(carrier)" }

  var cases: [SuiteCase] { SuiteCase.all.filter { $0.applies(toShared: isShared) } }

  /// The number of cases in the suite for this kind of cache.
  var expectedCount: Int { isShared ? 365 : 300 }

  /// How many of them the best cache in the published results passes: a browser, or a proxy.
  var bestPublished: Int { isShared ? 262 : 207 }

  /// `response` as this connection delivers it.
  func delivered(_ response: HTTP.Response) -> HTTP.Response {
    var delivered = response
    delivered.head.fields = self.delivered(response.head.fields)
    return delivered
  }

  /// `fields` as this connection delivers them.
  func delivered(_ fields: HTTP.Fields) -> HTTP.Fields {
    guard carrier == .joiningCall else { return fields }
    var joined = fields
    for name in Set(fields.lines.map { $0.name.lowercased() }) where fields.values(of: name).count > 1 {
      joined[name] = fields[name]
    }
    return joined
  }
}

/// The suite's checks: of each response as it arrives, and of all requests to the origin at the end.
struct SuiteChecks {
  typealias Failure = SuiteRun.Failure

  let test: SuiteCase
  let exchange: SuiteExchange
  /// The number of the request, from 1.
  let number: Int

  /// Throws if `response` is not as expected.
  func check(_ response: HTTP.Response) throws(Failure) {
    let interim = response.interim.map(\.status)
    if exchange.interim != interim { throw fail("came after the interim responses \(interim)") }
    try checkProvenance(response.head)
    try checkStatus(response.head.status)
    for line in exchange.shows.lines { try check(line, in: response.head.fields) }
    for name in exchange.lacks { if let value = response.head.fields[name] { throw fail("has \(name): \(value)") } }
    try checkText(response)
  }

  private func checkProvenance(_ head: HTTP.ResponseHead) throws(Failure) {
    let count = head.fields["Server-Request-Count"].flatMap { Int($0) }
    switch exchange.expect {
    case .cached:
      let isBare = head.status == 304 && count == nil
      if !isBare, count.map({ $0 >= number }) ?? true { throw fail("does not come from the cache") }
    case .notCached: if count != number { throw fail("comes from the cache") }
    case .tagValidated, .dateValidated, nil: break
    }
  }

  private func checkStatus(_ status: Int) throws(Failure) {
    let expected: Int
    switch exchange.expectStatus {
    case .any: return
    case .exactly(let wanted): expected = wanted
    case .scripted: expected = exchange.scriptedStatus
    }
    if status != expected { throw fail("has the status \(status), not \(expected)") }
  }

  private func check(_ line: SuiteFields.Line, in fields: HTTP.Fields) throws(Failure) {
    guard let value = fields[line.name] else { throw fail("has no \(line.name)") }
    switch line.value {
    case .present: return
    case .above(let bound):
      if Int(value).map({ $0 <= bound }) ?? true { throw fail("has \(line.name): \(value), not above \(bound)") }
    case .text, .loose, .date, .obsoleteDate, .place:
      let madeAt = fields["Server-Now"].flatMap { Int($0) } ?? 0
      let expected = SuiteFields.text(line.value, datedFrom: .seconds(madeAt))
      if value != expected { throw fail("has \(line.name): \(value), not \(expected ?? "")") }
    }
  }

  private func checkText(_ response: HTTP.Response) throws(Failure) {
    let expected: String
    switch exchange.text {
    case .any: return
    case .exactly(let text): expected = text
    case .scripted:
      let isBare = [204, 304].contains(response.head.status) || exchange.method == "HEAD"
      if exchange.body == nil, isBare { return }
      expected = exchange.body ?? test.id
    }
    let text = String(decoding: response.body, as: UTF8.self)
    if text != expected { throw fail("has the content \"\(text)\", not \"\(expected)\"") }
  }

  private func fail(_ text: String) -> Failure { Failure("response \(number) \(text)") }

  /// Throws if the requests to the origin are not as expected, or `responses` do not match its responses.
  static func check(_ records: [ScriptedOrigin.Record], of test: SuiteCase, _ responses: [HTTP.Response])
    throws(Failure)
  {
    var records = records[...]
    for (index, exchange) in test.exchanges.enumerated() where exchange.expect != .cached {
      try SuiteChecks(test: test, exchange: exchange, number: index + 1).check(
        records.popFirst(), responses[index].head.fields)
    }
  }

  private func check(_ record: ScriptedOrigin.Record?, _ fields: HTTP.Fields) throws(Failure) {
    guard let record else {
      let isAsked = exchange.expect != nil || !exchange.originSees.lines.isEmpty || exchange.originGets != nil
      if isAsked { throw Failure("request \(number) did not reach the origin") }
      return
    }
    try checkRequest(record)
    for line in record.strictFields.lines where fields[line.name] != line.value {
      throw fail("has \(line.name): \(fields[line.name] ?? ""), not \(line.value)")
    }
  }

  private func checkRequest(_ record: ScriptedOrigin.Record) throws(Failure) {
    if exchange.expect == .notCached, record.number != number {
      throw Failure("the origin saw request \(record.number) instead of \(number)")
    }
    let condition: String? =
      switch exchange.expect {
      case .tagValidated: "if-none-match"
      case .dateValidated: "if-modified-since"
      case .cached, .notCached, nil: nil
      }
    if let condition, !record.request.fields.contains(condition) {
      throw Failure("request \(number) has no \(condition)")
    }
    if let method = exchange.originGets, record.request.method != method {
      throw Failure("request \(number) was a \(record.request.method)")
    }
    for line in exchange.originSees.lines {
      let expected = SuiteFields.text(line.value, datedFrom: .zero)
      let value = record.request.fields[line.name]
      if value != expected { throw Failure("request \(number) had \(line.name): \(value ?? "") not \(expected ?? "")") }
    }
  }
}
