import CacheCore
import FetchVocabulary
import Foundation
import Synchronization

@testable import CachectlTool
@testable import CacheConfiguration

/// Stands in for the servers of the public interfaces: it answers by path, and remembers what it was asked.
final class FakeServer: DataTransferService {
  fileprivate let state = Mutex<(requests: [HTTPRequest], transports: [Configuration.Transport])>(([], []))
  private let status: Int
  private let body: String?

  /// A server that answers as the public ones do; or always in one way.
  init(status: Int = 200, body: String? = nil) {
    self.status = status
    self.body = body
  }

  var requests: [HTTPRequest] { state.withLock(\.requests) }

  /// The limits under which transfers were made.
  var transports: [Configuration.Transport] { state.withLock(\.transports) }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    state.withLock { $0.requests.append(request) }
    if request.fields["If-None-Match"] == Self.tag {
      return HTTPResponse(HTTPResponseHead(status: 304, fields: ["ETag": Self.tag, "Cache-Control": "max-age=60"]))
    }
    let (type, body) = Self.content(request.url)
    let fields: HTTPFields = [
      "Content-Type": type, "Cache-Control": "public, max-age=60, stale-if-error=600", "ETag": Self.tag,
      "Vary": "Accept,Accept-Encoding,Content-Type",
    ]
    return HTTPResponse(HTTPResponseHead(status: status, fields: fields), body: Array((self.body ?? body).utf8))
  }

  private static let tag = "W/\"v1\""

  private static func content(_ url: String) -> (type: String, body: String) {
    switch true {
    case url.contains("/nonprofits/api/v2/search.json?"): ("application/json; charset=utf-8", organizations)
    case url.contains("/3/search/movie?"): ("application/json;charset=utf-8", movies)
    case url.contains("/t/p/w"): ("image/jpeg", "the bytes of an image")
    default: ("application/json", cities)
    }
  }

  private static let organizations = #"""
    {"total_results": 26, "num_pages": 2, "cur_page": 0, "page_offset": 0, "per_page": 25, "organizations": [
      {"ein": 1, "city": "Portland", "state": "OR", "score": 1.5}, {"city": "Salem", "state": "Oregon"},
      {"city": "Portland", "state": "OR", "ntee_code": null}, {"city": null, "state": null}]}
    """#
  private static let movies = #"""
    {"page": 1, "total_pages": 900, "total_results": 18000, "results": [
      {"id": 7, "title": "The Wire", "overview": "", "release_date": "", "poster_path": "/w.jpg", "genre_ids": [18]}]}
    """#
  private static let cities = #"""
    {"resource": "cities", "page": 0, "totalPages": 1, "totalItems": 1, "items": [
      {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12, "organizationCount": 3}]}
    """#
}

extension TestHome {
  /// The container for the configuration file `text` with `variables` in the environment, whose origins are `server`.
  func container(_ text: String, _ variables: [String: String] = [:], server: FakeServer) throws -> AppDIContainer {
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.builtIn.declarations, sections: Fixtures.sections,
      environment: EnvironmentVariables(variables),
      workingDirectory: folder,
      userHome: folder, readFile: { path in path.hasSuffix("/config.json") ? Array(text.utf8) : nil })
    let configuration = try loader.load(ConfigurationFlags(file: folder + "/config.json", home: home))
    return AppDIContainer(
      configuration: configuration, clock: clock, userAgent: "cachectl/1.2.3",
      transfer: { transport in
        server.make(transport)
        return server
      })
  }
}

extension FakeServer {
  fileprivate func make(_ transport: Configuration.Transport) {
    state.withLock { $0.transports.append(transport) }
  }
}
