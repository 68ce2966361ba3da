import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Proxies: servers of the test that answer requests themselves.
@Suite(.timeLimit(.minutes(10)))
struct ProxyTests {
  /// Environment variables (P stands for the proxy's URL), and whether a request uses the proxy.
  @Test(arguments: [
    (["http_proxy": "P"], "http://example.invalid/a?b", true), (["all_proxy": "P"], "http://example.invalid/a?b", true),
    (["ALL_PROXY": "P"], "http://example.invalid/a?b", true),
    (["http_proxy": "P", "no_proxy": "other.invalid"], "http://example.invalid/a?b", true),
    (["HTTP_PROXY": "P"], "http://example.invalid/a", false), (["https_proxy": "P"], "http://example.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "example.invalid"], "http://example.invalid/a", false),
    (["http_proxy": "P", "NO_PROXY": "*"], "http://example.invalid/a", false),
    (["http_proxy": ""], "http://example.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "a, .ä.invalid"], "http://ä.invalid/a", false),
    (["http_proxy": "P", "no_proxy": "*"], "http://example.invalid/a", false),
  ])
  func proxiesOfTheEnvironment(_ values: [String: String], _ url: String, _ isUsed: Bool) async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    let transport = Transport(environment: variables(values.mapValues { $0 == "P" ? proxy.url : $0 }))
    do throws(TransportError) {
      let response = try await transport.response(to: HTTPRequest(url: url), limit: 100)
      #expect(isUsed)
      #expect(String(decoding: response.body, as: UTF8.self) == url)
    } catch {
      #expect(!isUsed && error.code == .cannotResolve)
    }
  }

  /// Its name is in ASCII before libcurl sees it, whatever the locale: it resolves this one by itself.
  @Test(arguments: ["HTTP://ｌｏｃａｌｈｏｓｔ:PORT", "ｌｏｃａｌｈｏｓｔ:PORT"])
  func theNameOfAProxyNeedNotBeASCII(_ address: String) async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    let transport = Transport(
      environment: variables(["http_proxy": address.replacing("PORT", with: "\(proxy.port)")]))
    let response = try await transport.response(to: HTTPRequest(url: "http://ä.invalid/"), limit: 100)
    #expect(String(decoding: response.body, as: UTF8.self) == "http://xn--4ca.invalid/")
  }

  @Test func proxyOfTheOptions() async throws {
    let proxy = try TestServer { TestResponse($0.target) }
    var options = TransportOptions()
    options.proxy = proxy.url
    let other = try ClosedPort()
    let transport = Transport(options, environment: variables(["http_proxy": other.url]))
    #expect(try await transport.response(to: HTTPRequest(url: "http://example.invalid/"), limit: 99).head.status == 200)
    options.proxy = ""
    let direct = Transport(options, environment: variables(["http_proxy": proxy.url]))
    #expect(await failure("http://example.invalid/", direct)?.code == .cannotResolve)
  }

  @Test func proxiesThatFail() async throws {
    let (closed, refusing) = (try ClosedPort(), try TestServer { _ in TestResponse(status: 403, "no") })
    let dead = Transport(environment: variables(["all_proxy": "http://user:hidden@127.0.0.1:\(closed.port)"]))
    #expect(
      await failure("http://example.invalid/", dead)
        == TransportError(.cannotConnectToProxy, server: "example.invalid", detail: "127.0.0.1:\(closed.port)"))
    let lost = Transport(environment: variables(["all_proxy": "http://no-such-host.invalid:1"]))
    #expect(await failure("http://example.invalid/", lost)?.code == .cannotResolveProxy)
    let strict = Transport(environment: variables(["https_proxy": refusing.url]))
    #expect(
      await failure("https://example.invalid/", strict)
        == TransportError(.proxy, server: "example.invalid", detail: "status 403"))
    #expect(refusing.requests.first?.method == "CONNECT")
    #expect(refusing.requests.first?.fields["User-Agent"] == nil)
  }

  private func failure(_ url: String, _ transport: Transport) async -> TransportError? {
    await #expect(throws: TransportError.self) { try await transport.response(to: HTTPRequest(url: url), limit: 100) }
  }
}
