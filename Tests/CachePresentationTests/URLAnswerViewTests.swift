import CacheDomain
import CachePresentation
import HTTPCaching
import Testing

struct URLAnswerViewTests {
  private static func response(_ body: [UInt8], field: String = "text/plain") -> HTTPResponse {
    HTTPResponse(HTTPResponseHead(status: 404, fields: ["Content-Type": field]), body: body)
  }

  private static func view(_ response: HTTPResponse) -> SnapshotView {
    let entry = EntryFacts(key: "k", storedAt: .seconds(60), freshUntil: .seconds(120), now: .seconds(90))
    let value = LocatedResponse(url: "https://example.com/a", response: response)
    return SnapshotView(Snapshot(value: value, source: .cache, entry: entry), backend: "lmdb")
  }

  @Test func theHeadIsThatOfHTTP() {
    #expect(Self.response([]).headText == "HTTP/1.1 404 \r\nContent-Type: text/plain\r\n\r\n")
  }

  /// A store can hold what no server sends.
  @Test func aLineEndInAFieldAddsNoLineToTheHead() {
    var response = HTTPResponse(
      HTTPResponseHead(version: .http11, status: 200, reason: "OK\r\nX-Evil: 1", fields: ["A": "b\rc\nd\0e"]))
    response.trailers = ["T": "\r\nX: 1"]
    #expect(response.headText == "HTTP/1.1 200 OK  X-Evil: 1\r\nA: b c d e\r\n\r\n")
    #expect(response.trailerText == "T:   X: 1\r\n")
  }

  @Test func interimResponsesComeBeforeTheHeadAndTrailersAfterTheContent() {
    var response = HTTPResponse(HTTPResponseHead(version: .http2, status: 200))
    response.interim = [
      HTTPResponseHead(version: .http11, status: 103, reason: "Early Hints", fields: ["Link": "</b>"])
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
  func whatIsNoTextIsNotShown(body: [UInt8]) { #expect(Self.response(body).terminalText == nil) }

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

  @Test func aCharacterWithoutAnEndIsNoText() {
    var text = ArrivingText()
    #expect(text.append([0x61, 0xF0, 0x9F]) == "a" && text.end() == nil)
    var other = ArrivingText()
    #expect(other.append([0xF0]) == "" && other.append([0x61]) == nil)
  }

  @Test func theRemarkBeginsWithTheStatus() {
    #expect(
      Self.view(Self.response([])).status?.text == "HTTP 404 · from cache (lmdb), stored 30 s ago, fresh for 30 s")
  }

  @Test func theDocumentHasTheBodyWhereItIsText() {
    let text = OutputRenderer(.json, on: .file).text(Self.view(Self.response(Array("hi".utf8))))
    #expect(
      text.hasSuffix(
        #""url":"https://example.com/a","status":404,"headers":[{"name":"Content-Type","value":"text/plain"}],"#
          + #""bytes":2,"body":"hi"}"# + "\n"), "\(text)")
    #expect(
      OutputRenderer(.json, on: .file).text(Self.view(Self.response([0xFF]))).hasSuffix("\"bytes\":1,\"body\":null}\n"))
  }
}
