public import FetchVocabulary

extension RecordView {
  /// How a fetch would be served, and why. The member "forward" is the reason to send a request to the origin, in the
  /// terms of RFC 9211, or null; "url" is the URL in the key, or null.
  public init(_ explanation: FetchExplanation, url: String? = nil) {
    let decision = explanation.decision
    let criteria = ListView(
      explanation.criteria,
      [
        Column(numbersFrom: 1), Column("name", .init("Criterion")) { .string($0.name) },
        Column("finding", .init("Finding")) { .string($0.finding) },
      ], layout: .wrapped)
    let key = Table.Cell(explanation.key, url == nil ? .bold : .plain)
    let heading = url.map { [Field(line: "URL", .init($0, .bold))] } ?? []
    self.init(
      heading + [
        Field("key", .string(explanation.key), "Key", key),
        Field("action", .string(decision.action.rawValue), "Decision", .init(explanation.verdict)),
        Field("reason", .string(decision.reason), "Because"),
        Field("forward", JSONValue(decision.forwardReason?.rawValue)), Field("criteria", criteria.json),
        Field("url", JSONValue(url)),
      ], layout: .wrapped
    ) { screen in
      "\n" + criteria.table(on: screen, hasHeader: true)
    }
  }
}

extension FetchExplanation {
  /// The lines for `--verbose`: each criterion, then the decision.
  package var remarks: [(topic: String, text: String)] {
    criteria.map { ($0.name, $0.finding) } + [("decision", "\(verdict), because \(decision.reason)")]
  }

  fileprivate var verdict: String {
    switch decision.action {
    case .serve: "the cache serves the stored response"
    case .serveThenRevalidate: "the cache serves the stored response, then requests a newer one from the origin"
    case .revalidate: "the cache revalidates the stored response with the origin"
    case .fetch: "the cache requests the response from the origin"
    case .fail: "the cache has no response to serve"
    }
  }
}
