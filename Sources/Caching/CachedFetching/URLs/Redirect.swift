/// A redirect that is safe to follow without asking (RFC 9110, section 15.4): to a GET or HEAD, and not from https to
/// http.
package struct Redirect {
  private let original: HTTPRequest
  private let url: String

  /// Reads the redirect from `head`, the answer to `request`; `nil` if it is not a redirect, or must not be followed.
  package init?(_ head: HTTPResponseHead, to request: HTTPRequest) {
    guard let request = Self.repeated(request, status: head.status), let location = head.fields["location"],
      !location.isEmpty, let url = URLReference.resolve(location, against: request.url)
    else { return nil }
    let schemes = request.isSecure ? ["https://"] : ["https://", "http://"]
    guard schemes.contains(where: url.lowercased().hasPrefix) else { return nil }
    self.url = url
    original = request
  }

  /// The request that follows the redirect. Another origin does not get the `secretFields`, nor the client's identity,
  /// unless it is the same host over https: that one gets the identity.
  package func request(without secretFields: HTTPFields) -> HTTPRequest {
    var request = original
    request.url = url
    guard !URLReference.isSameOrigin(url, original.url) else { return request }
    request.fields = HTTPFields(request.fields.lines.filter { !secretFields.contains($0.name) })
    if !URLReference.isUpgrade(from: original.url, to: url) { request.clientIdentity = nil }
    return request
  }

  /// The request to repeat at the new address: one that only reads, or the GET that replaces a POST.
  private static func repeated(_ request: HTTPRequest, status: Int) -> HTTPRequest? {
    guard HTTPResponseHead.redirectStatuses.contains(status) else { return nil }
    if request.retrieves { return request }
    // 307 and 308 ask for the same method again.
    guard request.method == "POST", status <= 303 else { return nil }
    let fields = request.fields.lines.filter { !$0.name.lowercased().hasPrefix("content-") }
    return HTTPRequest(url: request.url, fields: HTTPFields(fields), clientIdentity: request.clientIdentity)
  }
}
