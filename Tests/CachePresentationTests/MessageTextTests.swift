import CacheDomain
import Testing

@testable import CachePresentation

/// Messages quote servers, files and command lines, and stay readable.
struct MessageTextTests {
  private static let long = String(repeating: "x", count: 60_000)

  @Test(arguments: [
    ("unknown command '\(long)'", "unknown command 'xx", "xx'"),
    ("/\(long)/last.json cannot be read: no such file", "/xxx", "xx/last.json cannot be read: no such file"),
    ("the answer has the content coding '\(long)', which is not known", "the answer has", "xxx', which is not known"),
    (String(repeating: "word ", count: 12_000) + "end", "word word", "word end"),
    (String(repeating: "e\u{301}", count: 30_000), "e\u{301}", "e\u{301}"),
  ])
  func aLongMessageIsCutInTheMiddle(text: String, start: String, end: String) {
    let message = MessageText.message(text)
    #expect(message.unicodeScalars.count <= MessageText.longestMessage && message.contains("…"))
    #expect(message.hasPrefix(start) && message.hasSuffix(end), "\(message)")
  }

  @Test(arguments: ["", "short", String(repeating: "x", count: 200), String(repeating: "é", count: 200)])
  func whatIsShortStays(text: String) { #expect(MessageText.message(text) == text) }

  @Test func peopleAndProgramsGetTheSame() throws {
    let view = ErrorView(code: "failed", message: Self.long, hint: "remove it with: cachectl rm a/\(Self.long)")
    #expect(view.errorLine(on: .file).utf8.count < 5_000 && view.warningLine(on: .file).utf8.count < 5_000)
    for diagnostic in [Diagnostic.error(view), .warning(view), .detail(topic: "request", text: Self.long)] {
      #expect(JSONText.text(diagnostic.json).utf8.count < 5_000 && diagnostic.text(on: .file).utf8.count < 5_000)
    }
    // The hint is a command to copy, with a key of any usual length.
    let key = "a/" + String(repeating: "k", count: 2_000)
    #expect(ErrorView(CacheError(.damaged, "x", key: key)).errorLine(on: .file).contains("cachectl rm \(key); or "))
  }

  @Test(arguments: [
    ("raise maxBytes", "raise cache.maxBytes"),
    ("100 bytes, more than maxEntryBytes (5) allows", "100 bytes, more than cache.maxEntryBytes (5) allows"),
    ("no room: maxEntries is 1, maxBytes 2", "no room: cache.maxEntries is 1, cache.maxBytes 2"),
    ("(maxBytes)", "(cache.maxBytes)"), ("raise cache.maxBytes", "raise cache.maxBytes"),
    ("entry a/maxBytes, and a/maxBytes=1", "entry a/maxBytes, and a/maxBytes=1"),
    ("try again, or raise option 'busyTimeout' of backend sqlite", "try again, or raise 'backends.sqlite.busyTimeout'"),
    ("/c.json:1:2: option 'path' of backend plist is wrong", "/c.json:1:2: 'backends.plist.path' is wrong"),
    ("see the option 'a' of backend b: x", "see 'backends.b.a': x"), ("option 'a' of backend", "option 'a' of backend"),
    ("option '' of backend b", "option '' of backend b"), ("' of backend ", "' of backend "),
  ])
  func aSettingIsNamedWithItsSection(text: String, expected: String) {
    let view = ErrorView(CacheError(.failed, text, hint: text))
    #expect(view.message == expected && view.hint == expected)
  }
}
