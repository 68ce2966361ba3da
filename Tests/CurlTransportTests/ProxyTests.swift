import CacheBase
import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Proxies: servers of the test that respond to requests themselves.
@Suite(.timeLimit(.minutes(10))) struct ProxyTests {
  /// Environment variables (P is replaced by the proxy's URL), and whether a request uses the proxy.
  @Test(arguments: [
    (["http_proxy": "P"], "http://example.invalid/a?b", true), (["all_proxy": "P"], "http://example.invalid/a?b", true),
    (["ALL_PROXY": "P"], "http://example.invalid/a?b", true),
    (["http_proxy": "P", "no_proxy": "other.invalid"], "http://example.invalid/a?b", true),
    (["HTTP_PROXY": "P"], "http://example.invalid/a", false), (["https_proxy": "P"], "http://example.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "example.invalid"], "http://example.invalid/a", false),
    (["http_proxy": "P", "NO_PROXY": "*"], "http://example.invalid/a", false),
    (["http_proxy": ""], "http://example.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "a, .a.invalid"], "http://b.a.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "*"], "http://example.invalid/a", false),
  ])
  func proxiesOfTheEnvironment(_ values: [String: String], _ url: String, _ isUsed: Bool) async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    let service = HTTPTransferService.plain(environment: values.mapValues { $0 == "P" ? proxy.url : $0 })
    do throws(CacheError) {
      let response = try await service.get(url)
      #expect(isUsed)
      #expect(String(decoding: response.body, as: UTF8.self) == url)
    } catch { #expect(!isUsed && error.message.contains("is not known"), "\(error)") }
  }

  /// The name of a server is in ASCII before libcurl sees it, whatever the locale.
  @Test func aProxyGetsTheNameOfTheServerInASCII() async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    let response = try await HTTPTransferService.plain(environment: ["http_proxy": proxy.url]).get("http://ä.invalid/")
    #expect(String(decoding: response.body, as: UTF8.self) == "http://xn--4ca.invalid/")
  }

  @Test func proxyOfTheOptions() async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    var options = TransportOptions()
    options.proxy = proxy.url
    let other = try ClosedPort()
    let service = HTTPTransferService.plain(options, environment: ["http_proxy": other.url])
    #expect(try await service.get("http://example.invalid/").head.status == 200)
    options.proxy = ""
    let direct = HTTPTransferService.plain(options, environment: ["http_proxy": proxy.url])
    Failure.unknownName.expect(await failure("http://example.invalid/", direct))
  }

  @Test func proxiesThatFail() async throws {
    let (closed, refusing) = (try ClosedPort(), try TestServer { _ in TestResponse(status: 403, "no") })
    let closedProxy = ["all_proxy": "http://user:hidden@127.0.0.1:\(closed.port)"]
    let rows = [
      ("http", closedProxy, "the proxy 127.0.0.1:\(closed.port) refuses the connection for example.invalid"),
      ("http", ["all_proxy": "http://no-such-host.invalid:1"], "the name of the proxy for example.invalid"),
      ("https", ["https_proxy": refusing.url], "the proxy does not connect to example.invalid: status 403"),
    ]
    for (scheme, variables, words) in rows {
      Failure(code: .originUnreachable, words: words)
        .expect(await failure("\(scheme)://example.invalid/", .plain(environment: variables)))
    }
    #expect(refusing.requests.first?.method == "CONNECT")
    #expect(refusing.requests.first?.fields["User-Agent"] == nil)
  }

  private func failure(_ url: String, _ service: HTTPTransferService) async -> CacheError? {
    await CurlTransportTests.failure { () async throws(CacheError) in try await service.get(url) }
  }
}
