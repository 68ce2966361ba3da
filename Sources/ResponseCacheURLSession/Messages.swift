internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

extension HTTPRequest {
  /// The message that `request` is, without its content. Credentials in the URL become a field.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where the URL is none of a web server.
  init(_ request: URLRequest) throws(CacheError) {
    guard let url = request.url else { throw CacheError(URLError(.badURL)) }
    let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    self.init(
      method: request.httpMethod ?? "GET", url: try Self.normalizedURL(url.absoluteString),
      fields: HTTPFields(fields.map { HTTPFields.Field($0.key, $0.value) }))
    guard let user = url.user(percentEncoded: false), !self.fields.contains("authorization") else { return }
    let credentials = Data("\(user):\(url.password(percentEncoded: false) ?? "")".utf8)
    self.fields.append("Authorization", "Basic \(credentials.base64EncodedString())")
  }
}

extension HTTPResponseHead {
  /// The head of `response` with its fields in the order of their names: that in which they came is lost.
  init(_ response: HTTPURLResponse) {
    let fields = response.allHeaderFields.map { HTTPFields.Field("\($0.key)", "\($0.value)") }
    self.init(status: response.statusCode, fields: HTTPFields(fields.sorted { $0.name < $1.name }))
  }

  /// The head of `response` whose content had a coding that `URLSession` has undone, leaving `count` bytes. What remains is
  /// another representation, which a strong tag must not name (RFC 9110, section 8.8.3.3).
  init(_ response: HTTPURLResponse, decoded count: Int) {
    self.init(response)
    guard let coding = fields["content-encoding"], coding.lowercased() != "identity" else { return }
    fields["Content-Encoding"] = nil
    fields["Content-Length"] = count > 0 ? String(count) : nil
    if let tag = fields["etag"], !tag.hasPrefix("W/") { fields["ETag"] = "W/\(tag)" }
  }
}

extension HTTPURLResponse {
  /// What a program gets of a response with the head `head` from `url`; `nil` where that is no URL. The answer to
  /// `request` itself has the request's own URL.
  convenience init?(_ head: HTTPResponseHead, url text: String, of request: URLRequest) {
    let isOwn = request.url.map { (try? HTTPRequest.normalizedURL($0.absoluteString)) == text } ?? false
    guard let url = isOwn ? request.url : URL(string: text) else { return nil }
    let names = head.fields.lines.map { ($0.name, head.fields[$0.name] ?? "") }
    self.init(
      url: url, statusCode: head.status, httpVersion: head.version?.rawValue ?? "HTTP/1.1",
      headerFields: Dictionary(names, uniquingKeysWith: { first, _ in first }))
  }
}
