import CacheDomain
import CachePresentation
import FetchVocabulary
import HTTPCaching
import Testing

struct URLAnswerViewTests {
  private static func response(_ body: [UInt8], field: String = "text/plain") -> HTTP.Response {
    HTTP.Response(HTTP.ResponseHead(status: 404, fields: ["Content-Type": field]), body: body)
  }

  private static func view(_ response: HTTP.Response) -> SnapshotView {
    let entry = EntryFacts(key: "k", storedAt: .seconds(60), freshUntil: .seconds(120), now: .seconds(90))
    let value = LocatedResponse(url: "https://example.com/a", response: response)
    return SnapshotView(Snapshot(value: value, source: .cache, entry: entry), backend: "lmdb")
  }

  @Test func theHeadHasTheFormOfHTTP() {
    #expect(Self.response([]).headText == "HTTP/1.1 404 \r\nContent-Type: text/plain\r\n\r\n")
  }

  /// A store can hold a response that no server sends.
  @Test func aLineEndInAFieldAddsNoLineToTheHead() {
    var response = HTTP.Response(
      HTTP.ResponseHead(version: .http11, status: 200, reason: "OK\r\nX-Evil: 1", fields: ["A": "b\rc\nd\0e"]))
    response.trailers = ["T": "\r\nX: 1"]
    #expect(response.headText == "HTTP/1.1 200 OK  X-Evil: 1\r\nA: b c d e\r\n\r\n")
    #expect(response.trailerText == "T:   X: 1\r\n")
  }

  @Test func interimResponsesComeBeforeTheHeadAndTrailersAfterTheContent() {
    var response = HTTP.Response(HTTP.ResponseHead(version: .http2, status: 200))
    response.interim = [
      HTTP.ResponseHead(version: .http11, status: 103, reason: "Early Hints", fields: ["Link": "</b>"])
    ]
    response.trailers = ["X-Sum": "1"]
    #expect(response.headText == "HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\nHTTP/2 200 \r\n\r\n")
    #expect(response.trailerText == "X-Sum: 1\r\n")
  }

  @Test func aTerminalIsSentNoControlCharacters() {
    let response = Self.response(Array("a\u{1B}[2Jb\r\nc\td".utf8), field: "text/\u{1B}]0;x\u{07}")
    #expect(response.terminalText == "a\\u{1B}[2Jb\nc\td")
    #expect(
      Self.view(response).table(on: .terminal(width: 80, hasColor: true), hasHeader: true)
        == "HTTP/1.1 404 \nContent-Type: text/\\u{1B}]0;x\\u{7}\n\n")
  }

  @Test(arguments: [[0xFF, 0xFE], [0x61, 0x00, 0x62]])
  func contentThatIsNotTextIsNotShown(body: [UInt8]) { #expect(Self.response(body).terminalText == nil) }

  /// Characters and ends of lines may be split anywhere.
  @Test(arguments: 1...5) func textMayArriveInPieces(size: Int) {
    let bytes = Array("é€😀\r\n\u{1B}a\r\nb".utf8)
    var (text, shown) = (ArrivingText(), "")
    for start in stride(from: 0, to: bytes.count, by: size) {
      shown += text.append(Array(bytes[start..<min(start + size, bytes.count)])) ?? "no text"
    }
    shown += text.end() ?? "no text"
    #expect(shown == "é€😀\n\\u{1B}a\nb")
  }

  @Test func anIncompleteCharacterIsNotText() {
    var text = ArrivingText()
    #expect(text.append([0x61, 0xF0, 0x9F]) == "a" && text.end() == nil)
    var other = ArrivingText()
    #expect(other.append([0xF0]) == "" && other.append([0x61]) == nil)
  }

  @Test func theRemarkBeginsWithTheStatus() {
    #expect(
      Self.view(Self.response([])).status?.text == "HTTP 404 · from cache (lmdb), stored 30 s ago, fresh for 30 s")
  }

  @Test func theDocumentHasTheBodyIfItIsText() {
    let text = OutputRenderer(.json, on: .file).text(Self.view(Self.response(Array("hi".utf8))))
    #expect(
      text.hasSuffix(
        #""url":"https://example.com/a","status":404,"headers":[{"name":"Content-Type","value":"text/plain"}],"#
          + #""bytes":2,"body":"hi"}"# + "\n"), "\(text)")
    #expect(
      OutputRenderer(.json, on: .file).text(Self.view(Self.response([0xFF]))).hasSuffix("\"bytes\":1,\"body\":null}\n"))
  }
}

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

  @Test(arguments: [20, 30, 40, 60, 80, 120]) func nothingIsCutAndOnlyLongWordsAreLongerThanALine(width: Int) {
    let text = Self.text(.terminal(width: width, hasColor: false))
    #expect(!text.contains(DisplayWidth.ellipsis))
    let words = Self.explanation.criteria.flatMap { $0.finding.split(separator: " ") }
    for word in words { #expect(text.contains(word)) }
    for line in text.split(separator: "\n") where width >= 40 && DisplayWidth.width(String(line)) > width {
      #expect(line.split(separator: " ").contains { $0.count > width - 20 }, "\(line)")
    }
  }

  @Test func aFileGetsLinesOfAnyLength() { #expect(Self.text(.file).split(separator: "\n").count == 7) }

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

struct DiagnosticTests {
  @Test(
    arguments: [
      (.status(StatusLine(["a", "b"])), "a · b\n", #"{"status":{"message":"a · b"}}"#),
      (.detail(topic: "store", text: "x\ny"), "store: x\\ny\n", #"{"detail":{"topic":"store","message":"x\ny"}}"#),
      (.question("Sure?"), "Sure? [y/N] ", #"{"question":{"message":"Sure?"}}"#),
    ] as [(Diagnostic, String, String)])
  func diagnostics(_ diagnostic: Diagnostic, _ text: String, _ json: String) {
    #expect(diagnostic.text(on: .file) == text)
    #expect(JSONText.text(diagnostic.json) == json)
  }

  @Test(arguments: [
    (
      CacheError(.damaged, "", key: "a/b"),
      "remove it with: cachectl rm a/b; or save the rest with: cachectl verify --repair"
    ), (CacheError(.damaged, ""), "save what can be read with: cachectl verify --repair"),
    (CacheError(.damaged, "", hint: "restore it", key: "a/b"), "restore it"),
    (CacheError(.notCached, ""), "fetch it once without --offline"),
    (CacheError(.insecure, ""), "name the certificates to trust with --cacert FILE"),
    (CacheError(.invalidOption, ""), "see the options with: cachectl backends show NAME"),
    (CacheError(.invalidPlugin, ""), "see: cachectl backends list"), (CacheError(.busy, ""), ""),
  ])
  func commandsThatHelp(_ error: CacheError, _ hint: String) {
    #expect(ErrorView(error).hint == hint)
    let named =
      error.hint.isEmpty && error.code == .damaged ? hint.replacing("cachectl", with: "cachectl --backend x") : hint
    #expect(ErrorView(error, backend: "x").hint == named.replacing("NAME", with: "x"))
  }

  @Test(
    "A warning does not repeat what earlier ones have said",
    arguments: [
      ("store: gone", "start it", nil, nil), ("store: gone", "stop it", "store: gone", "stop it"),
      ("not saved: store: gone", "start it", "not saved", ""),
      ("not saved: store: gone", "save it", "not saved", "save it"),
      ("not saved, store: gone", "start it", "not saved, store: gone", "start it"),
      ("remote is away: not kept", "", "remote is away: not kept", ""),
      ("not saved: remote: store: gone", "start it", "not saved", ""), ("gone", "start it", nil, nil),
      ("gone", "stop it", "gone", "stop it"),
    ] as [(String, String, String?, String?)])
  func news(_ message: String, _ hint: String, _ newMessage: String?, _ newHint: String?) {
    let earlier = ["store: gone", "remote: store: gone"].map {
      ErrorView(code: "failed", message: $0, hint: "start it")
    }
    let news = ErrorView(code: "failed", message: message, hint: hint).news(after: earlier)
    #expect(news?.message == newMessage && news?.hint == newHint)
  }

  @Test(arguments: [
    ("run cachectl doctor", "cachectl: a \\u{1B} key\n  hint: run cachectl doctor\n", #""run cachectl doctor""#),
    ("", "cachectl: a \\u{1B} key\n", "null"),
  ])
  func errors(_ hint: String, _ line: String, _ json: String) {
    let view = ErrorView(CacheError(.notFound, "a \u{1B} key", hint: hint))
    #expect(Diagnostic.error(view).text(on: .file) == line)
    let members = #"{"code":"notFound","message":"a \u001b key","hint":"# + json + "}"
    #expect(JSONText.text(Diagnostic.error(view).json) == #"{"error":"# + members + "}")
    #expect(JSONText.text(Diagnostic.warning(view).json) == #"{"warning":"# + members + "}")
    #expect(
      Diagnostic.error(view).text(on: .terminal(width: 9, hasColor: true)).hasPrefix("\u{1B}[31mcachectl:\u{1B}[0m a "))
  }
}
