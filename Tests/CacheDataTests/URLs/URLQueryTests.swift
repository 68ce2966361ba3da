import CacheDomain
import Testing
@testable import CacheData
@testable import CachedFetching
@testable import HTTPCaching

/// Requests as a person writes them.
struct URLQueryTests {
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
    #expect(try HTTPRequest(URLQuery(url: text)).url == url)
  }

  @Test func dotSegmentsAreKeptOnRequest() throws {
    let request = try HTTPRequest(URLQuery(url: "HTTP://h/a/../%2e/b", keepsDotSegments: true))
    #expect(request.url == "http://h/a/../%2e/b" && request.keepsDotSegments)
  }

  @Test(arguments: [
    "", "example.com", "/a", "ftp://example.com/", "file:///etc/passwd", "http://", "https:///a", "mailto:a@b",
    "http://a／b/", "http://a@b\\c/", "http://a/\n", "http://a/x\r",
  ])
  func whatIsNoURLOfAServerIsRefused(text: String) throws {
    let error = #expect(throws: CacheError.self) { try HTTPRequest(URLQuery(url: text)) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func aRefusedURLIsNotRepeated() throws {
    let error = #expect(throws: CacheError.self) { try HTTPRequest(URLQuery(url: "ftp://u:s3cret@example.com/")) }
    #expect(error?.message.contains("s3cret") == false)
  }

  @Test(
    arguments: [
      ("https://user:pass@example.com/", [], "Basic dXNlcjpwYXNz"), ("https://user@example.com/", [], "Basic dXNlcjo="),
      ("https://a%40b:c@example.com/", [], "Basic YUBiOmM="), ("https://example.com/", [], nil),
      ("https://user:pass@example.com/", [HTTPFields.Field("authorization", "Bearer t")], "Bearer t"),
    ] as [(String, [HTTPFields.Field], String?)])
  func credentialsInTheURLBecomeAField(url: String, fields: [HTTPFields.Field], authorization: String?) throws {
    let request = try HTTPRequest(URLQuery(url: url, fields: HTTPFields(fields)))
    #expect(request.fields["Authorization"] == authorization)
  }

  @Test(arguments: [("", "a"), ("a b", "c"), ("a:", "b"), ("a", "b\r\nc: d"), ("a", "\u{0}"), ("ä", "b")])
  func malformedFieldsAreRefused(name: String, value: String) {
    let query = URLQuery(url: "http://a/", fields: HTTPFields([HTTPFields.Field(name, value)]))
    #expect(throws: CacheError.self) { try HTTPRequest(query) }
  }

  @Test(arguments: ["", "GE T", "GET\n", "G(T"])
  func malformedMethodsAreRefused(method: String) {
    #expect(throws: CacheError.self) { try HTTPRequest(URLQuery(url: "http://a/", method: method)) }
  }

  /// Answers are stored by URL: an answer to a request with other content, or none, would be taken for this one's.
  @Test(arguments: ["GET", "HEAD"])
  func contentForARequestThatReadsIsRefused(method: String) throws {
    let error = #expect(throws: CacheError.self) {
      try HTTPRequest(URLQuery(url: "http://a/", method: method, body: [1]))
    }
    #expect(error?.code == .invalidRequest)
    #expect(try HTTPRequest(URLQuery(url: "http://a/", method: method)).body.isEmpty)
  }

  @Test func contentHasAType() throws {
    let form = try HTTPRequest(URLQuery(url: "http://a/", method: "POST", body: [1]))
    #expect(form.fields["Content-Type"] == "application/x-www-form-urlencoded")
    let type: HTTPFields = ["content-type": "text/plain"]
    let text = try HTTPRequest(URLQuery(url: "http://a/", method: "POST", fields: type, body: [1]))
    #expect(text.fields.values(of: "Content-Type") == ["text/plain"])
    #expect(try HTTPRequest(URLQuery(url: "http://a/")).fields.lines.isEmpty)
  }
}
