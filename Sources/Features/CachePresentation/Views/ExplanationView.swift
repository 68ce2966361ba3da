public import FetchVocabulary

/// How a fetch would be answered, and why.
public struct ExplanationView: SingleRecordView {
  private let explanation: FetchExplanation

  /// The view of `explanation`.
  public init(_ explanation: FetchExplanation) {
    self.explanation = explanation
  }

  /// The document `{"key", "action", "reason", "forward", "criteria": [{"name", "finding"}]}`; "forward" is the reason
  /// to send a request to the origin, in the terms of RFC 9211, or null.
  public var json: JSONValue {
    let criteria = explanation.criteria.map { ["name": .string($0.name), "finding": .string($0.finding)] as JSONValue }
    return [
      "key": .string(explanation.key), "action": .string(explanation.decision.action.rawValue),
      "reason": .string(explanation.decision.reason),
      "forward": JSONValue(explanation.decision.forwardReason?.rawValue),
      "criteria": .array(criteria),
    ]
  }

  /// The criteria, one per line, and the decision.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let rows = explanation.criteria.enumerated().map { index, criterion in
      [Table.Cell("\(index + 1)", .dim), Table.Cell(criterion.name, .plain), Table.Cell(criterion.finding, .plain)]
    }
    let steps = Table([.init("#", .right), .init("Criterion"), .init("Finding")], rows: rows)
      .wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: hasHeader)
    let facts: [(name: String, value: Table.Cell)] = [
      ("Key", .init(explanation.key, .bold)), ("Decision", .init(verdict, .plain)),
      ("Because", .init(explanation.decision.reason, .plain)),
    ]
    return Details.wrappedText(facts, on: screen) + "\n" + steps
  }

  /// The lines for `--verbose`: each criterion, then the decision.
  public var remarks: [(topic: String, text: String)] {
    explanation.criteria.map { ($0.name, $0.finding) }
      + [("decision", "\(verdict), because \(explanation.decision.reason)")]
  }

  private var verdict: String {
    switch explanation.decision.action {
    case .serve: "the cache serves the stored response"
    case .serveThenRevalidate: "the cache serves the stored response, then requests a newer one from the origin"
    case .revalidate: "the cache revalidates the stored response with the origin"
    case .fetch: "the cache requests the response from the origin"
    case .fail: "the cache has no response to serve"
    }
  }
}
