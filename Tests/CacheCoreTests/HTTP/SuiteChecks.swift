import CacheCore

/// The suite's checks: of each response as it arrives, and of all requests to the origin at the end.
struct SuiteChecks {
  typealias Failure = SuiteRun.Failure

  let test: SuiteCase
  let exchange: SuiteExchange
  /// The number of the request, from 1.
  let number: Int

  /// Throws if `response` is not as expected.
  func check(_ response: HTTPResponse) throws(Failure) {
    let interim = response.interim.map(\.status)
    if exchange.interim != interim { throw fail("came after the interim responses \(interim)") }
    try checkProvenance(response.head)
    try checkStatus(response.head.status)
    for line in exchange.shows.lines { try check(line, in: response.head.fields) }
    for name in exchange.lacks {
      if let value = response.head.fields[name] { throw fail("has \(name): \(value)") }
    }
    try checkText(response)
  }

  private func checkProvenance(_ head: HTTPResponseHead) throws(Failure) {
    let count = head.fields["Server-Request-Count"].flatMap { Int($0) }
    switch exchange.expect {
    case .cached:
      let isBare = head.status == 304 && count == nil
      if !isBare, count.map({ $0 >= number }) ?? true { throw fail("does not come from the cache") }
    case .notCached:
      if count != number { throw fail("comes from the cache") }
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

  private func check(_ line: SuiteFields.Line, in fields: HTTPFields) throws(Failure) {
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

  private func checkText(_ response: HTTPResponse) throws(Failure) {
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

  /// Throws if the requests to the origin are not as expected, or `responses` do not match its answers.
  static func check(
    _ records: [ScriptedOrigin.Record], of test: SuiteCase, _ responses: [HTTPResponse]
  ) throws(Failure) {
    var records = records[...]
    for (index, exchange) in test.exchanges.enumerated() where exchange.expect != .cached {
      try SuiteChecks(test: test, exchange: exchange, number: index + 1).check(
        records.popFirst(), responses[index].head.fields)
    }
  }

  private func check(_ record: ScriptedOrigin.Record?, _ fields: HTTPFields) throws(Failure) {
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
