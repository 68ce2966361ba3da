import Testing

@testable import HTTPCaching

/// A response to one party is not served to another.
struct CredentialTests {
  static let url = "http://example.com/x"

  private static func request(
    _ fields: HTTP.Fields, secret: Set<String> = [], parameters: HTTP.Fields = [:], url: String = CredentialTests.url,
    identity: String? = nil
  ) -> HTTP.Request {
    var request = HTTP.Request(url: url, fields: fields, clientIdentity: identity)
    request.secretFields = secret
    request.secretParameters = parameters
    return request
  }

  /// Requests of which no two are by the same party, or at the same server.
  static let parties: [HTTP.Request] = [
    request([:]), request(["Authorization": "a"]), request(["Authorization": "b"]), request(["Cookie": "a=1"]),
    request(["Cookie": "a=2"]), request(["Cookie": "a=1; b=1"]), request(["Proxy-Authorization": "a"]),
    request(["Authorization": "a", "Cookie": "a=1"]), request(["X-Key": "a"], secret: ["x-key"]),
    request(["X-Key": "b"], secret: ["X-Key"]), request(["X-Key": "a,"], secret: ["X-Key"]),
    request(["X-Key": "A"], secret: ["X-Key"]), request(["X-Other": "a"], secret: ["x-other"]),
    request(["X-Key": "a", "X-Other": "a"], secret: ["x-key", "x-other"]), request(["X-Key": ""], secret: ["x-key"]),
    request([:], parameters: ["api_key": "a"]), request([:], parameters: ["api_key": "b"]),
    request([:], parameters: ["key": "a"]), request(["Api_key": "a"], secret: ["api_key"]),
    request([:], url: "https://example.com/x", identity: "a"),
    request([:], url: "https://example.com/x", identity: "b"),
    request(["Host": "other.example"]), request(["Host": "example.com:81"]),
    request(["Host": "other.example", "Cookie": "a=1"]),
    request(["Host": "other.example"], url: "http://example.com:81/x"),
  ]

  @Test(arguments: ["", "Accept", "Cookie", "X-Key"])
  func eachPartySelectsItsOwnResponse(vary: String) throws {
    for (index, party) in Self.parties.enumerated() {
      let selector = try #require(
        VariantSelector(response: ["Vary": vary], request: party, key: .ofProcess), "\(party.fields.text)")
      let selected = Self.parties.indices.filter { selector.selects(Self.parties[$0]) }
      #expect(selected == [index], "\(party.fields.text)")
    }
  }

  /// A plain header field that has the name of a secret somewhere else does not get the secret's response.
  @Test func aPlainFieldIsNotASecret() throws {
    let secret = Self.request(["X-Key": "a"], secret: ["x-key"])
    let plain = Self.request(["X-Key": "a"])
    for vary in ["", "X-Key"] {
      let ofSecret = try #require(VariantSelector(response: ["Vary": vary], request: secret, key: .ofProcess))
      let ofPlain = try #require(VariantSelector(response: ["Vary": vary], request: plain, key: .ofProcess))
      #expect(!ofSecret.selects(plain) && !ofPlain.selects(secret))
    }
  }

  /// The same cookies in another order, as some clients send them.
  @Test(
    arguments: [
      ("a=1; b=2", "b=2;a=1", true), ("a=1; b=2", "a=1; b=2; ", true), ("a=1; a=2", "a=2; a=1", false),
      ("a=1; b=2", "a=2; b=1", false), ("a=1, b=2", "b=2, a=1", false),
    ])
  func cookiesHaveNoOrder(first: String, second: String, isSame: Bool) throws {
    for vary in ["", "Cookie"] {
      let selector = try #require(
        VariantSelector(response: ["Vary": vary], request: Self.request(["Cookie": first]), key: .ofProcess))
      #expect(selector.selects(Self.request(["Cookie": second])) == isSame)
    }
  }

  /// Without the key, nobody can try passwords until a digest fits. Values that are not secret are found with any key.
  @Test func onlySecretsAreDigestedWithTheKey() throws {
    let (one, other) = (CredentialKey { () throws(CacheError) in [1] }, CredentialKey { () throws(CacheError) in [2] })
    for party in Self.parties {
      for vary in ["", "Accept", "Cookie"] {
        let first = try #require(VariantSelector(response: ["Vary": vary], request: party, key: one))
        let second = try #require(VariantSelector(response: ["Vary": vary], request: party, key: other))
        #expect((first == second) == !party.hasCredentials, "\(party.fields.text), Vary: \(vary)")
      }
    }
  }

  /// Even a response for everybody can depend on a secret, by its `Vary`.
  @Test func aSecretThatVaryNamesIsDigestedWithTheKey() throws {
    let digests = try ([1, 2] as [UInt8]).map { number in
      let key = CredentialKey { () throws(CacheError) in [number] }
      return try #require(
        VariantSelector(
          response: ["Vary": "Cookie"], request: Self.request(["Cookie": "a=1"]), isShared: true, key: key))
    }
    #expect(digests[0] != digests[1])
  }

  /// RFC 9111, section 3.5, for everything that identifies a client.
  @Test(
    arguments: [
      ("max-age=60", false), ("public", true), ("must-revalidate, max-age=60", true), ("s-maxage=60", true),
      ("private, max-age=60", false),
    ])
  func aSharedCacheKeepsPublicResponses(directives: String, isKept: Bool) throws {
    let rules = HTTPCacheRules.testing(isShared: true)
    for party in Self.parties where party.hasCredentials {
      let head = HTTP.ResponseHead(status: 200, fields: ["Cache-Control": directives])
      let stored = rules.stored(head, for: party, requestTime: received, responseTime: received)
      #expect((stored != nil) == isKept, "\(party.fields.text)")
      guard let stored else { continue }
      let here = Self.parties.filter { $0.detour == party.detour && $0.hasCredentials }
      #expect(here.allSatisfy { stored.selector.selects($0) })
    }
  }

  @Test func theTraceNamesTheFieldsThatTellPartiesApartAndNoValue() {
    var request = Self.request(
      ["Cookie": "a=hush", "X-Key": "hush", "Host": "other.example", "Accept": "b"], secret: ["x-key"],
      parameters: ["api_key": "hush"], url: "https://example.com/x", identity: "hush")
    request.fields.append("cookie", "c=hush")
    for isShared in [false, true] {
      let trace = CacheTrace()
      _ = HTTPCacheRules.testing(isShared: isShared).decision(
        for: request, stored: nil, options: FetchOptions(), now: received, trace: trace)
      let finding = trace.criteria.first { $0.name == "credentials" }?.finding ?? ""
      #expect(finding.hasPrefix("Cookie, X-Key, the parameter api_key, the client certificate: "))
      #expect(
        trace.criteria.first { $0.name == "target" }?.finding
          == "a resource of https://other.example, which Host names; the request goes to https://example.com")
      #expect(trace.criteria.allSatisfy { !$0.finding.contains("hush") })
    }
    let refusal = HTTPCacheRules.testing(isShared: true).refusal(
      to: HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"]),
      for: Self.request(["X-Key": "hush"], secret: ["x-key"]))
    #expect(refusal == "the request had credentials (X-Key), and the cache is shared")
  }

  @Test func aKeyThatCannotBeLoadedConcernsRequestsWithSecretsAlone() {
    var rules = HTTPCacheRules.testing()
    rules.credentialKey = CredentialKey { () throws(CacheError) in throw CacheError(.ioFailed, "no key") }
    for party in Self.parties {
      var error: CacheError?
      do throws(CacheError) { try rules.requireCredentialKey(for: party) } catch let failure { error = failure }
      #expect((error != nil) == party.hasCredentials)
    }
  }

  @Test func randomKeysDiffer() {
    #expect(CredentialKey.random() != CredentialKey.random())
    #expect(CredentialKey.random().count == CredentialKey.length)
  }
}
