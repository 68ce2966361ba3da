import CacheCore
import CurlTransport
import EngineAPI
import EngineConformance
import FetchVocabulary
import Synchronization
import TestOrigin

/// An origin that responds from a case's table and records its requests, as the suite's server does.
final class ScriptedOrigin: DataTransferService {
  struct Record: Sendable {
    /// The number of the request in its case, from 1.
    let number: Int
    let request: HTTP.Request
    /// The fields of the response that a cache must pass on unchanged.
    let strictFields: HTTP.Fields
  }

  /// The base of all URLs in a case.
  static let base = "http://origin.example"

  /// A status that no case expects. It means that the request had no condition, but the case requires one.
  private static let unconditionalStatus = 999

  private struct State {
    var records: [Record] = []
    var sent: [Int: HTTP.Fields] = [:]
  }

  private let test: SuiteCase
  private let setting: SuiteSetting
  private let clock: ManualClock
  private let state = Mutex(State())

  init(_ test: SuiteCase, _ setting: SuiteSetting, clock: ManualClock) {
    self.test = test
    self.setting = setting
    self.clock = clock
  }

  /// The requests so far, in order.
  var records: [Record] { state.withLock { $0.records } }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let response = try response(to: request)
    return setting.delivered(response)
  }

  /// The response to `request`.
  ///
  /// - Throws: `CacheError`: the case has no such request.
  func response(to request: HTTP.Request) throws(CacheError) -> HTTP.Response {
    let number = request.fields["Req-Num"].flatMap { Int($0) } ?? records.count + 1
    guard test.exchanges.indices.contains(number - 1) else {
      throw CacheError(.invalidRequest, "there is no request \(number)")
    }
    let exchange = test.exchanges[number - 1]
    clock.advance(by: .seconds(exchange.delay))
    let response = answer(exchange, number, to: request)
    record(number, request, exchange, response.head.fields)
    if exchange.disconnects { throw CacheError(.originUnreachable, "the connection broke off") }
    return response
  }

  private func record(_ number: Int, _ request: HTTP.Request, _ exchange: SuiteExchange, _ sent: HTTP.Fields) {
    var strict: HTTP.Fields = [:]
    for line in exchange.answer.lines where line.name.lowercased() != "date" {
      if case .loose = line.value { continue }
      strict[line.name] = sent[line.name]
    }
    state.withLock { state in
      state.sent[number] = sent
      state.records.append(Record(number: number, request: request, strictFields: exchange.disconnects ? [:] : strict))
    }
  }

  private func answer(_ exchange: SuiteExchange, _ number: Int, to request: HTTP.Request) -> HTTP.Response {
    let status = status(exchange, number, to: request)
    var fields = fields(exchange, number, to: request)
    let hasContent = request.method != "HEAD" && ![204, 304].contains(status)
    var body = hasContent ? Array((exchange.body ?? test.id).utf8) : []
    if let length = fields["Content-Length"].flatMap({ Int($0) }) {
      body = Array(body.prefix(length))
    } else if hasContent {
      fields.append("Content-Length", String(body.count))
    }
    var response = HTTP.Response(HTTP.ResponseHead(status: status, fields: fields), body: body)
    response.interim = exchange.interim.map { HTTP.ResponseHead(status: $0) }
    return response
  }

  private func status(_ exchange: SuiteExchange, _ number: Int, to request: HTTP.Request) -> Int {
    guard exchange.expect == .tagValidated || exchange.expect == .dateValidated else { return exchange.scriptedStatus }
    let previous = previousFields(before: number)
    let isConfirmed = [("etag", "if-none-match"), ("last-modified", "if-modified-since")].contains { field, condition in
      previous[field].map { $0 == request.fields[condition] } ?? false
    }
    return isConfirmed ? 304 : Self.unconditionalStatus
  }

  /// The fields of the response to the previous request: as sent, or as they would have been.
  private func previousFields(before number: Int) -> HTTP.Fields {
    let sent = state.withLock { $0.sent[number - 1] }
    guard number > 1 else { return [:] }
    return sent ?? test.exchanges[number - 2].answer.fields(datedFrom: now)
  }

  private func fields(_ exchange: SuiteExchange, _ number: Int, to request: HTTP.Request) -> HTTP.Fields {
    let path = String(request.url.dropFirst(Self.base.count))
    var fields: HTTP.Fields = [
      "Server-Base-Url": path, "Server-Request-Count": String(records.count + 1),
      "Client-Request-Count": String(number), "Server-Now": String(now.components.seconds),
    ]
    let scripted = exchange.answer.fields(datedFrom: now, at: path)
    for line in scripted.lines { fields.append(line.name, line.value) }
    if !fields.contains("Date") { fields.append("Date", HTTPDate.text(now)) }
    if !fields.contains("Content-Type") { fields.append("Content-Type", "text/plain") }
    return fields
  }

  private var now: Duration { .milliseconds(clock.now.milliseconds) }
}

/// Sends requests to a scripted origin with the tool's own transport, through a server on the loopback interface.
final class LoopbackTransfer: DataTransferService {
  private let server: TestServer
  private let carrier = HTTPTransferService(timeout: .seconds(600), content: .streamed, environment: { _ in nil })

  /// Starts the server for `origin`.
  ///
  /// - Throws: `SystemFailure`.
  init(_ origin: ScriptedOrigin) throws {
    server = try TestServer { request in
      let fields = request.fields.lines.filter { $0.name.lowercased() != "host" }
      let message = HTTP.Request(
        method: request.method, url: ScriptedOrigin.base + request.target,
        fields: HTTP.Fields(fields.map { HTTP.Fields.Field($0.name, $0.value) }), body: request.body)
      return (try? origin.response(to: message)).map { .raw(bytes: Self.bytes($0)) } ?? .hangUp
    }
  }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    var local = request
    local.url = server.url + request.url.dropFirst(ScriptedOrigin.base.count)
    return try await carrier.transfer(local)
  }

  /// The bytes of `response`, as sent by a server that then closes the connection.
  private static func bytes(_ response: HTTP.Response) -> [UInt8] {
    let heads = (response.interim + [response.head]).map { head in
      (["HTTP/1.1 \(head.status) Reason"] + head.fields.lines.map { "\($0.name): \($0.value)" })
        .map { "\($0)\r\n" }.joined() + "\r\n"
    }
    return FieldText.encode(heads.joined()) + response.body
  }
}
