import CacheDomain
import Testing
@testable import CacheData
@testable import CacheCore
@testable import HTTPCaching

/// Requests as a person writes them.
struct WrittenRequestTests {
  @Test(arguments: [
    ("http://example.com", "http://example.com/"), ("HTTP://Example.COM:80/a", "http://example.com/a"),
    ("https://example.com:443", "https://example.com/"), ("https://example.com:444/", "https://example.com:444/"),
    ("https://example.com/a?b=c#d", "https://example.com/a?b=c"), ("https://u:p@example.com/", "https://example.com/"),
    ("https://example.com?q=a%2Fb", "https://example.com/?q=a%2Fb"),
    ("https://example.com/a/../%7E%e2", "https://example.com/%7E%e2"),
    ("http://bücher.example", "http://xn--bcher-kva.example/"),
    ("http://h/\u{F7E9}", "http://h/%EF%9F%A9"),
  ])
  func theURLIsNormalised(text: String, url: String) throws {
    #expect(try HTTPRequest(url: text).checked().url == url)
  }

  @Test func dotSegmentsAreKeptOnRequest() throws {
    var written = HTTPRequest(url: "HTTP://h/a/../%2e/b")
    written.keepsDotSegments = true
    let request = try written.checked()
    #expect(request.url == "http://h/a/../%2e/b" && request.keepsDotSegments)
  }

  @Test(arguments: [
    "", "example.com", "/a", "ftp://example.com/", "file:///etc/passwd", "http://", "https:///a", "mailto:a@b",
    "http://a／b/", "http://a@b\\c/", "http://a/\n", "http://a/x\r",
  ])
  func whatIsNoURLOfAServerIsRefused(text: String) throws {
    let error = #expect(throws: CacheError.self) { try HTTPRequest(url: text).checked() }
    #expect(error?.code == .invalidRequest)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func aRefusedURLIsNotRepeated() throws {
    let error = #expect(throws: CacheError.self) { try HTTPRequest(url: "ftp://u:s3cret@example.com/").checked() }
    #expect(error?.message.contains("s3cret") == false)
  }

  @Test(
    arguments: [
      ("https://user:pass@example.com/", [], "Basic dXNlcjpwYXNz"), ("https://user@example.com/", [], "Basic dXNlcjo="),
      ("https://a%40b:c@example.com/", [], "Basic YUBiOmM="), ("https://example.com/", [], nil),
      ("https://user:pass@example.com/", [HTTPFields.Field("authorization", "Bearer t")], "Bearer t"),
    ] as [(String, [HTTPFields.Field], String?)])
  func credentialsInTheURLBecomeAField(url: String, fields: [HTTPFields.Field], authorization: String?) throws {
    let request = try HTTPRequest(url: url, fields: HTTPFields(fields)).checked()
    #expect(request.fields["Authorization"] == authorization)
  }

  @Test(arguments: [("", "a"), ("a b", "c"), ("a:", "b"), ("a", "b\r\nc: d"), ("a", "\u{0}"), ("ä", "b")])
  func malformedFieldsAreRefused(name: String, value: String) {
    let request = HTTPRequest(url: "http://a/", fields: HTTPFields([HTTPFields.Field(name, value)]))
    #expect(throws: CacheError.self) { try request.checked() }
  }

  @Test(arguments: ["", "GE T", "GET\n", "G(T"])
  func malformedMethodsAreRefused(method: String) {
    #expect(throws: CacheError.self) { try HTTPRequest(method: method, url: "http://a/").checked() }
  }

  /// Answers are stored by URL: an answer to a request with other content, or none, would be taken for this one's.
  @Test(arguments: ["GET", "HEAD"])
  func contentForARequestThatReadsIsRefused(method: String) throws {
    let error = #expect(throws: CacheError.self) {
      try HTTPRequest(method: method, url: "http://a/", body: [1]).checked()
    }
    #expect(error?.code == .invalidRequest)
    #expect(try HTTPRequest(method: method, url: "http://a/").checked().body.isEmpty)
  }

  @Test func contentHasAType() throws {
    let form = try HTTPRequest(method: "POST", url: "http://a/", body: [1]).checked()
    #expect(form.fields["Content-Type"] == "application/x-www-form-urlencoded")
    let type: HTTPFields = ["content-type": "text/plain"]
    let text = try HTTPRequest(method: "POST", url: "http://a/", fields: type, body: [1]).checked()
    #expect(text.fields.values(of: "Content-Type") == ["text/plain"])
    #expect(try HTTPRequest(url: "http://a/").checked().fields.lines.isEmpty)
  }
}
