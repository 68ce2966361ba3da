import CacheDomain
import FetchVocabulary
import Synchronization
import Testing
@testable import CacheCore
@testable import CacheData
@testable import HTTPCaching

/// A response to one party, or from one server, is not served to another.
struct PartyTests {
  private static let fresh: HTTP.Fields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]

  private let bench = HTTPCacheBench(FakeTransfer(200, Self.fresh, "a"))

  private func get(
    _ fields: HTTP.Fields, secret: Set<String> = [], url: String = HTTPCacheBench.url, method: String = "GET",
    from transfer: FakeTransfer? = nil
  ) async throws -> Snapshot<HTTP.Response> {
    var request = HTTP.Request(method: method, url: url, fields: fields)
    request.secretFields = secret
    var last: Snapshot<HTTP.Response>?
    for try await snapshot in bench.cache(transfer).responses(to: request, options: FetchOptions()) { last = snapshot }
    return try #require(last)
  }

  @Test(arguments: ["Cookie", "Authorization", "Proxy-Authorization", "X-Tenant"])
  func eachPartyHasItsOwnResponse(name: String) async throws {
    for value in ["alice", "bob", "alice", "bob"] {
      let answer = try await get(
        HTTP.Fields([HTTP.Fields.Field(name, value)]), secret: ["X-Tenant"], from: FakeTransfer(200, Self.fresh, value))
      #expect(answer.value.body == Array(value.utf8))
    }
    #expect(bench.storage.count(of: HTTPCacheBench.url) == 2)
    #expect(try await get([:], from: FakeTransfer(200, Self.fresh, "")).source == .origin)
    // A change concerns all of them.
    let changed = try await get(["Cookie": "c=1"], method: "POST", from: FakeTransfer(200, [:], ""))
    #expect(changed.value.head.status == 200 && bench.storage.keys.isEmpty)
  }

  /// A HEAD of one party says nothing about another party's response.
  @Test func aHEADUpdatesTheResponseOfItsPartyAlone() async throws {
    for value in ["a=1", "a=2"] { _ = try await get(["Cookie": value]) }
    let head = FakeTransfer(200, ["Cache-Control": "no-cache, max-age=0", "ETag": "\"2\""])
    _ = try await get(["Cookie": "a=1", "Cache-Control": "no-cache"], method: "HEAD", from: head)
    let newer = FakeTransfer(200, Self.fresh, "b")
    #expect(try await get(["Cookie": "a=2"], from: newer).source == .cache)
    #expect(try await get(["Cookie": "a=1"], from: newer).source == .origin)
  }

  /// Neither a waiting party nor another process's sees the request of another party, and its name gives no secret away.
  @Test func eachPartyHasItsOwnRequest() throws {
    func subject(_ fields: HTTP.Fields, _ key: CredentialKey, url: String = HTTPCacheBench.url) -> URLTarget {
      var rules = HTTPCacheRules(freshness: HTTPCacheBench.freshness)
      rules.credentialKey = key
      let cache = HTTPCache(
        responses: bench.storage.responses, transfer: bench.transfer,
        services: FetchServices(rules: rules, now: { .zero }))
      return URLTarget(request: HTTP.Request(url: url, fields: fields), cache: cache)
    }
    let keys = ([1, 2] as [UInt8]).map { number in CredentialKey { () throws(CacheError) in [number] } }
    let cookies = try keys.flatMap { key in try ["a=1", "a=2"].map { try subject(["Cookie": $0], key).coalescingKey() }
    }
    #expect(Set(cookies).count == 4, "the names are made with the key")
    #expect(try Set(keys.map { try subject(["Accept": "b"], $0).coalescingKey() }).count == 1)
    let hosts = try [HTTPCacheBench.url, "http://c.example/x"].map {
      try subject(["Host": "b.example"], keys[0], url: $0).coalescingKey()
    }
    #expect(Set(hosts).count == 2)
  }

  @Test func eachHostHasItsOwnResponse() async throws {
    for host in ["a.example", "b.example", "b.example:81", "c.example"] {
      for _ in 1...2 {
        let transfer = FakeTransfer(200, Self.fresh, host)
        let answer = try await get(["Host": host], from: transfer)
        #expect(answer.value.body == Array(host.utf8))
        #expect(transfer.requests.allSatisfy { $0.url == HTTPCacheBench.url && $0.fields["Host"] == host })
      }
    }
    // The field `Host: a.example` changes nothing; but a response of the URL's server for b.example is not a response
    // of b.example.
    let newer = FakeTransfer(200, Self.fresh, "new")
    #expect(try await get([:], from: newer).value.body == Array("a.example".utf8))
    #expect(try await get([:], url: "http://b.example/x", from: newer).value.body == Array("new".utf8))
    #expect(try await get(["Host": "b.example"], from: newer).value.body == Array("b.example".utf8))
    #expect(
      try await get(["Host": "b.example"], url: "http://c.example/x", from: newer).value.body == Array("new".utf8))
    // All of them are responses of b.example.
    #expect(bench.storage.count(of: "http://b.example/x") == 3)
    _ = try await get(["Host": "b.example"], method: "POST", from: FakeTransfer(200, [:], ""))
    #expect(bench.storage.count(of: "http://b.example/x") == 0 && !bench.storage.keys.isEmpty)
  }

  @Test(arguments: ["b c", "", "user@b", "b/c"]) func aMalformedHostIsAMistake(host: String) async {
    let error = await #expect(throws: CacheError.self) { _ = try await get(["Host": host]) }
    #expect(error?.code == .invalidRequest && error?.message.contains("Host") == true)
    #expect(bench.transfer.requests.isEmpty)
  }

  /// A redirection is resolved against the host that Host names, whose requests go the same way.
  @Test(
    arguments: [
      ("/y", "http://a.example/y", "b.example", "s"),
      ("http://b.example/y?z", "http://a.example/y?z", "b.example", "s"),
      ("http://a.example/y", "http://a.example/y", nil, nil), ("http://c.example/y", "http://c.example/y", nil, nil),
    ] as [(String, String, String?, String?)])
  func redirectionsOfAHost(location: String, url: String, host: String?, secret: String?) async throws {
    let redirect = HTTP.Response(HTTP.ResponseHead(status: 302, fields: ["Location": location]))
    let end = HTTP.Response(HTTP.ResponseHead(status: 200), body: [1])
    let transfer = FakeTransfer(end, but: [HTTPCacheBench.url: redirect])
    var request = HTTP.Request(
      url: HTTPCacheBench.url, fields: ["Host": "b.example", "X-Key": "s", "Cookie": "c=1", "X-Plain": "p"])
    request.secretFields = ["x-key"]
    let responses = bench.cache(transfer).followedResponses(to: request, options: FetchOptions(), maxRedirects: 1)
    for try await snapshot in responses { #expect(snapshot.value.url == url && snapshot.value.response.body == [1]) }
    let last = try #require(transfer.requests.last)
    #expect(last.url == url && last.fields["Host"] == host && last.fields["X-Plain"] == "p")
    #expect(last.fields["X-Key"] == secret && (last.fields["Cookie"] != nil) == (secret != nil))
  }

  /// The GET that takes the place of a POST has the same secrets, which do not go to another origin either.
  @Test func secretsStaySecretOnTheWay() async throws {
    let there = HTTP.Response(HTTP.ResponseHead(status: 303, fields: ["Location": "/y"]))
    let away = HTTP.Response(HTTP.ResponseHead(status: 302, fields: ["Location": "http://c.example/"]))
    let transfer = FakeTransfer(
      HTTP.Response(HTTP.ResponseHead(status: 200)), but: [HTTPCacheBench.url: there, "http://a.example/y": away])
    var request = HTTP.Request(method: "POST", url: HTTPCacheBench.url, fields: ["X-Key": "s"], body: [1])
    request.secretFields = ["X-Key"]
    let responses = bench.cache(transfer).followedResponses(to: request, options: FetchOptions(), maxRedirects: 2)
    for try await _ in responses {}
    #expect(transfer.requests.map(\.method) == ["POST", "GET", "GET"])
    #expect(transfer.requests.map { $0.fields["X-Key"] } == ["s", "s", nil])
  }

  /// Without the key, parties cannot be distinguished: the response comes from the server, with one warning.
  @Test func withoutAKeyNothingIsStoredForAParty() async throws {
    var services = FetchServices(rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_000) })
    services.rules.credentialKey = CredentialKey { () throws(CacheError) in throw CacheError(.ioFailed, "no key") }
    let cache = HTTPCache(responses: bench.storage.responses, transfer: bench.transfer, services: services)
    for (fields, isKept) in [(["Cookie": "a=1"], false), ([:], true)] as [(HTTP.Fields, Bool)] {
      let request = HTTP.Request(url: HTTPCacheBench.url, fields: fields)
      for try await snapshot in cache.responses(to: request, options: FetchOptions()) {
        #expect(snapshot.source == .origin && snapshot.entry.isStored == isKept)
        #expect(snapshot.warnings.map(\.error.message) == (isKept ? [] : ["no key"]))
      }
    }
  }
}

/// Requests as a person writes them.
struct WrittenRequestTests {
  @Test(arguments: [
    ("http://example.com", "http://example.com/"), ("HTTP://Example.COM:80/a", "http://example.com/a"),
    ("https://example.com:443", "https://example.com/"), ("https://example.com:444/", "https://example.com:444/"),
    ("https://example.com/a?b=c#d", "https://example.com/a?b=c"), ("https://u:p@example.com/", "https://example.com/"),
    ("https://example.com?q=a%2Fb", "https://example.com/?q=a%2Fb"),
    ("https://example.com/a/../%7E%e2", "https://example.com/%7E%e2"),
    ("http://bücher.example", "http://xn--bcher-kva.example/"), ("http://h/\u{F7E9}", "http://h/%EF%9F%A9"),
  ])
  func theURLIsNormalised(text: String, url: String) throws {
    #expect(try HTTP.Request(url: text).checked().url == url)
  }

  @Test func dotSegmentsAreKeptOnRequest() throws {
    var written = HTTP.Request(url: "HTTP://h/a/../%2e/b")
    written.keepsDotSegments = true
    let request = try written.checked()
    #expect(request.url == "http://h/a/../%2e/b" && request.keepsDotSegments)
  }

  @Test(arguments: [
    "", "example.com", "/a", "ftp://example.com/", "file:///etc/passwd", "http://", "https:///a", "mailto:a@b",
    "http://a／b/", "http://a@b\\c/", "http://a/\n", "http://a/x\r",
  ])
  func urlsThatAreNotOfAServerAreRefused(text: String) throws {
    let error = #expect(throws: CacheError.self) { try HTTP.Request(url: text).checked() }
    #expect(error?.code == .invalidRequest)
    #expect(error?.hint.isEmpty == false)
  }

  @Test func aRefusedURLIsNotRepeated() throws {
    let error = #expect(throws: CacheError.self) { try HTTP.Request(url: "ftp://u:s3cret@example.com/").checked() }
    #expect(error?.message.contains("s3cret") == false)
  }

  @Test(
    arguments: [
      ("https://user:pass@example.com/", [], "Basic dXNlcjpwYXNz"), ("https://user@example.com/", [], "Basic dXNlcjo="),
      ("https://a%40b:c@example.com/", [], "Basic YUBiOmM="), ("https://example.com/", [], nil),
      ("https://user:pass@example.com/", [HTTP.Fields.Field("authorization", "Bearer t")], "Bearer t"),
    ] as [(String, [HTTP.Fields.Field], String?)])
  func credentialsInTheURLBecomeAField(url: String, fields: [HTTP.Fields.Field], authorization: String?) throws {
    let request = try HTTP.Request(url: url, fields: HTTP.Fields(fields)).checked()
    #expect(request.fields["Authorization"] == authorization)
  }

  @Test(arguments: [("", "a"), ("a b", "c"), ("a:", "b"), ("a", "b\r\nc: d"), ("a", "\u{0}"), ("ä", "b")])
  func malformedFieldsAreRefused(name: String, value: String) {
    let request = HTTP.Request(url: "http://a/", fields: HTTP.Fields([HTTP.Fields.Field(name, value)]))
    #expect(throws: CacheError.self) { try request.checked() }
  }

  @Test(arguments: ["", "GE T", "GET\n", "G(T"]) func malformedMethodsAreRefused(method: String) {
    #expect(throws: CacheError.self) { try HTTP.Request(method: method, url: "http://a/").checked() }
  }

  @Test func contentForAHEADIsRefused() throws {
    let error = #expect(throws: CacheError.self) {
      try HTTP.Request(method: "HEAD", url: "http://a/", body: [1]).checked()
    }
    #expect(error?.code == .invalidRequest)
    #expect(try HTTP.Request(method: "HEAD", url: "http://a/").checked().body.isEmpty)
  }
}
