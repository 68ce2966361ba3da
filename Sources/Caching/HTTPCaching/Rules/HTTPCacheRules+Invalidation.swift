/// What a request that changes its origin invalidates (RFC 9111, section 4.4).
extension HTTPCacheRules {
  /// The URLs whose stored responses become invalid when `request` gets `response`: the request's own, and those of the
  /// same origin that the response names.
  public func invalidated(by response: HTTPResponseHead, to request: HTTPRequest) -> [String] {
    guard !request.isSafe, (200..<400).contains(response.status) else { return [] }
    let named = ["location", "content-location"].compactMap { response.fields[$0] }
      .compactMap { URLReference.resolve($0, against: request.url) }
      .filter { URLReference.isSameOrigin($0, request.url) }
    return named.reduce(into: [request.url]) { urls, url in
      if !urls.contains(url) { urls.append(url) }
    }
  }
}
