import Foundation
import TestOrigin

/// The configuration of origins that are servers.
enum OriginSettings {
  /// A page of cities in the protocol of the kind `http`.
  static let page = """
    {"resource": "cities", "page": 0, "totalPages": 1, "totalItems": 2, "items": [
      {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12, "organizationCount": 3},
      {"id": "/SALEM", "name": "SALEM", "subName": null, "revenue": null, "organizationCount": null}]}
    """

  /// A server of `page` whose responses are fresh for `age` seconds, and can then be served stale for ten minutes.
  static func cityServer(freshFor age: Int = 600) throws -> TestServer {
    let fields: TestFields = ["Cache-Control": "max-age=\(age), stale-if-error=600", "ETag": "\"cities\""]
    return try TestServer { TestResponse.json(page, fields: fields).validated(for: $0) }
  }

  /// Cities from the server at `url`. On a machine that is busy with tests a held response may take long.
  static func cities(_ url: String, kind: String = "http", more: String = "") -> String {
    #""cities": {"kind": "\#(kind)", "baseURL": "\#(url)", "timeout": "10m"\#(more)}"#
  }

  /// Movies from the server at `url`, whose key is in the variable `KEY`.
  static func movies(_ url: String, more: String = "") -> String {
    """
    "movies": {"kind": "tmdb", "baseURL": "\(url)", "imagesBaseURL": "\(url)", "apiKey": {"env": "KEY"}, "timeout": "10m"\(more)}
    """
  }
}

extension Scratch {
  /// Writes the configuration with the given origins.
  func configure(_ origins: String...) throws {
    try configure(text: #"{"origin": {\#(origins.joined(separator: ", "))}}"#)
  }
}
