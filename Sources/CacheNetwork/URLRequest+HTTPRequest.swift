internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

extension URLRequest {
  /// The request as a session takes it.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where it cannot be sent over HTTP.
  init(_ request: HTTPRequest) throws(CacheError) {
    self.init(url: try Self.url(request.url))
    try Self.check(request)
    httpMethod = request.method
    if !request.body.isEmpty { httpBody = Data(request.body) }
    for line in request.fields.lines { setValue(request.fields[line.name], forHTTPHeaderField: line.name) }
    // A part of compressed content could not be decompressed.
    if request.fields.contains("range"), !request.fields.contains("accept-encoding") {
      setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
  }

  private static func url(_ text: String) throws(CacheError) -> URL {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host().map({ !$0.isEmpty }) == true
    else {
      throw CacheError(
        .invalidRequest, "that is no URL of a web server", hint: "write it as https://example.com/path")
    }
    return url
  }

  private static func check(_ request: HTTPRequest) throws(CacheError) {
    let names = [request.method] + request.fields.lines.map(\.name)
    let isSafe: (String) -> Bool = { text in !text.utf8.contains { $0 < 32 && $0 != 9 || $0 == 127 } }
    guard names.allSatisfy({ !$0.isEmpty && !$0.contains(" ") && isSafe($0) }),
      request.fields.lines.map(\.value).allSatisfy(isSafe)
    else {
      throw CacheError(
        .invalidRequest, "the method or a header field of the request has characters that HTTP does not allow",
        hint: "leave control characters out, and spaces out of names")
    }
  }
}
