import CacheCore
import FetchVocabulary
import MemoryStorage
import EngineConformance
import EngineAPI

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
      responses: URLResponses(store: EntryStore(engine: engine, clock: clock)),
      transfer: transfer, services: services)
  }

  /// Why the case fails; `nil` if it passes.
  func failure() async -> Failure? {
    var responses: [HTTPResponse] = []
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
    } catch {
      return error
    }
  }

  /// A shared cache is one that clients reach over HTTP, so it answers 502 if it gets no answer (RFC 9110, section
  /// 15.6.3). In a private cache a failed fetch fails the case, as in a browser.
  private func response(to request: HTTPRequest) async throws(Failure) -> HTTPResponse {
    do throws(CacheError) {
      var last: HTTPResponse?
      var snapshots = cache.responses(to: request, options: FetchOptions()).makeAsyncIterator()
      while let snapshot = try await snapshots.next() { last = snapshot.value }
      if let last { return last }
    } catch {
      if setting.isShared { return HTTPResponse(HTTPResponseHead(status: 502)) }
      throw Failure("the fetch failed: \(error.message)")
    }
    throw Failure("there was no response")
  }

  private func request(_ exchange: SuiteExchange, _ number: Int, after previous: HTTPResponse?) -> HTTPRequest {
    // The suite's client sends these to disable its own cache.
    var fields: HTTPFields = setting.isShared ? ["Pragma": "foo", "Cache-Control": "nothing-to-see-here"] : [:]
    let start = previous?.head.fields["Server-Now"].flatMap { Int($0) } ?? 0
    for line in exchange.ask.fields(datedFrom: .seconds(start)).lines { fields.append(line.name, line.value) }
    fields.append("Test-ID", test.id)
    fields.append("Req-Num", String(number))
    let url = "\(ScriptedOrigin.base)/test/\(test.id)\(exchange.target)"
    return HTTPRequest(
      method: exchange.method, url: url, fields: setting.delivered(fields), body: Array(exchange.content.utf8))
  }
}
