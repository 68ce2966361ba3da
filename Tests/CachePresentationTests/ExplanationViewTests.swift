import FetchVocabulary
import CachePresentation
import Testing

struct ExplanationViewTests {
  private static let explanation = FetchExplanation(
    key: "cities/v1/order=revenue/origin=sample/page=0/sort=desc",
    decision: CacheDecision(
      .revalidate, "the stored response has been stale for ten minutes, and no rule allows it to be used as it is",
      forward: .stale),
    criteria: [
      CacheCriterion("policy", "cache-first"),
      CacheCriterion("freshness", "stored an hour ago and fresh for fifty minutes by max-age=3000 of Cache-Control"),
      CacheCriterion("address", "https://example.com/\(String(repeating: "a", count: 80))"),
    ])

  private static func text(_ screen: Screen, _ format: OutputFormat = .table) -> String {
    OutputRenderer(format, on: screen).text(RecordView(explanation))
  }

  @Test func aTerminalOf80ColumnsGetsWholeSentences() {
    #expect(
      Self.text(.terminal(width: 80, hasColor: false)) == """
        Key       cities/v1/order=revenue/origin=sample/page=0/sort=desc
        Decision  the cache revalidates the stored response with the origin
        Because   the stored response has been stale for ten minutes, and no rule allows
                  it to be used as it is

        #  Criterion  Finding
        1  policy     cache-first
        2  freshness  stored an hour ago and fresh for fifty minutes by max-age=3000 of
                      Cache-Control
        3  address    https://example.com/\(String(repeating: "a", count: 80))

        """)
  }

  @Test(arguments: [20, 30, 40, 60, 80, 120])
  func nothingIsCutAndOnlyLongWordsAreLongerThanALine(width: Int) {
    let text = Self.text(.terminal(width: width, hasColor: false))
    #expect(!text.contains(DisplayWidth.ellipsis))
    let words = Self.explanation.criteria.flatMap { $0.finding.split(separator: " ") }
    for word in words { #expect(text.contains(word)) }
    for line in text.split(separator: "\n") where width >= 40 && DisplayWidth.width(String(line)) > width {
      #expect(line.split(separator: " ").contains { $0.count > width - 20 }, "\(line)")
    }
  }

  @Test func aFileGetsLinesOfAnyLength() {
    #expect(Self.text(.file).split(separator: "\n").count == 7)
  }

  @Test func theDocument() {
    let text = Self.text(.file, .json)
    #expect(text.hasPrefix(#"{"key":"cities/v1/order=revenue/origin=sample/page=0/sort=desc","action":"revalidate","#))
    #expect(text.contains(#""forward":"stale","criteria":[{"name":"policy","finding":"cache-first"},"#))
  }

  @Test func remarksEndInTheDecision() {
    let remarks = Self.explanation.remarks
    #expect(remarks.map(\.topic) == ["policy", "freshness", "address", "decision"])
    let verdict =
      "the cache revalidates the stored response with the origin, because the stored response has been stale"
    #expect(remarks.last?.text.hasPrefix(verdict) == true)
  }
}
