import CacheDomain
import FetchVocabulary
import Testing
@testable import CacheData
@testable import CacheCore
@testable import HTTPCaching

/// A typed resource answers only the party that it was fetched for.
struct OriginPartyTests {
  /// How a server is told who asks. No two are the same party.
  private static let parties: [(credentials: OriginCredentials, fields: HTTPFields, secretFields: HTTPFields)] = [
    (.none, [:], [:]), (.queryParameter(name: "k", value: "a"), [:], [:]),
    (.queryParameter(name: "k", value: "b"), [:], [:]), (.bearerToken("a"), [:], [:]), (.bearerToken("b"), [:], [:]),
    (.none, [:], ["X-Tenant": "a"]), (.none, [:], ["X-Tenant": "b"]), (.none, ["Cookie": "a=1"], [:]),
    (.none, [:], ["Cookie": "a=2"]), (.none, ["Host": "b.example"], [:]), (.none, ["Host": "c.example"], [:]),
  ]

  private static func origin(_ index: Int, _ transfer: FakeTransfer = FakeTransfer()) throws -> HTTPCityOrigin {
    let party = parties[index]
    return HTTPCityOrigin(
      try server(
        "http://a.example/cities", transfer, credentials: party.credentials, fields: party.fields,
        secretFields: party.secretFields))
  }

  @Test func noPartySelectsTheResponseOfAnother() throws {
    let messages = try Self.parties.indices.map { try Self.origin($0).message(for: Asked.cities()) }
    let rules = HTTPCacheRules(freshness: HTTPCacheBench.freshness)
    for (index, message) in messages.enumerated() {
      let selector = try #require(VariantSelector(response: [:], request: message, key: .ofProcess))
      #expect(messages.indices.filter { rules.selects(selector, messages[$0]) } == [index])
    }
    #expect(Set(messages.map { rules.party(of: $0) }).count == messages.count, "each makes its own request")
    #expect(rules.party(of: messages[0]).isEmpty)
  }

  @Test func plainFieldsThatAreCredentialsStayWithTheirServer() async throws {
    let body = #"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#
    let redirect = HTTPResponse(HTTPResponseHead(status: 302, fields: ["Location": "http://z.example/"]))
    let transfer = FakeTransfer(
      HTTPResponse(HTTPResponseHead(status: 200), body: Array(body.utf8)),
      but: ["http://a.example/cities?page=0&order=revenue&sort=desc": redirect])
    let server = try server(
      "http://a.example/cities", transfer, fields: ["Cookie": "a=1", "Host": "b.example", "X-Plain": "1"])
    _ = try await HTTPCityOrigin(server).answer(to: Asked.cities(), conditions: [:])
    let names = transfer.requests.map { Set($0.fields.lines.map { $0.name.lowercased() }) }
    #expect(names.map { $0.isSuperset(of: ["cookie", "host"]) } == [true, false])
    #expect(names.last?.isDisjoint(with: ["cookie", "host"]) == true && names.last?.contains("x-plain") == true)
  }
}
