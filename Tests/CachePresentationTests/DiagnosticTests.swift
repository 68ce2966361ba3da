import CacheDomain
import CachePresentation
import Testing

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
    ),
    (CacheError(.damaged, ""), "save what can be read with: cachectl verify --repair"),
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
      ("store: gone", "start it", nil, nil),
      ("store: gone", "stop it", "store: gone", "stop it"),
      ("not saved: store: gone", "start it", "not saved", ""),
      ("not saved: store: gone", "save it", "not saved", "save it"),
      ("not saved, store: gone", "start it", "not saved, store: gone", "start it"),
      ("remote is away: not kept", "", "remote is away: not kept", ""),
      ("not saved: remote: store: gone", "start it", "not saved", ""),
      ("gone", "start it", nil, nil),
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
    ("run cachectl doctor", "cachectl: a \\u{1B} key: run cachectl doctor\n", #""run cachectl doctor""#),
    ("", "cachectl: a \\u{1B} key\n", "null"),
  ])
  func errors(_ hint: String, _ line: String, _ json: String) {
    let view = ErrorView(CacheError(.notFound, "a \u{1B} key", hint: hint))
    #expect(Diagnostic.error(view).text(on: .file) == line)
    let members = #"{"code":"notFound","message":"a \u001b key","hint":"# + json + "}"
    #expect(JSONText.text(Diagnostic.error(view).json) == #"{"error":"# + members + "}")
    #expect(JSONText.text(Diagnostic.warning(view).json) == #"{"warning":"# + members + "}")
    #expect(view.errorLine(on: .terminal(width: 9, hasColor: true)).hasPrefix("\u{1B}[31mcachectl:\u{1B}[0m a "))
  }
}
