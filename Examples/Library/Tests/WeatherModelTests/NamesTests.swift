import CurlTransport
import HTTPTypes
import ResponseCache
import ResponseCacheTesting
import Testing

@Test func requestsOfAnotherPackageKeepTheirNames() async throws {
  let server = FakeOrigin { (request: HTTP.Request) in HTTP.Response(HTTP.ResponseHead(status: 200), body: [1]) }
  let theirs = HTTPRequest(path: "/a")
  let cache = try await Cache.inMemory()
  let response = try await cache.response(to: HTTP.Request(url: "http://server.example\(theirs.path)"), over: server)
  #expect(response.body == [1])
  #expect(HTTPResponse.self != HTTP.Response.self && HTTPFields.self != HTTP.Fields.self)
}
