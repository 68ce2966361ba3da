internal import CacheCore
internal import FetchVocabulary
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Tells the cache what a request that bypassed it has changed, before the request's task ends.
final class InvalidatingClient: NSObject, URLProtocolClient {
  private let base: any URLProtocolClient
  private let load: Load
  private let link: SessionLink
  private let request: URLRequest

  init(_ base: any URLProtocolClient, _ load: Load, _ link: SessionLink, _ request: URLRequest) {
    (self.base, self.load, self.link, self.request) = (base, load, link, request)
  }

  func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
    if !invalidate(`protocol`.task, .invalidated) { base.urlProtocolDidFinishLoading(`protocol`) }
  }

  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) { base.urlProtocol(`protocol`, didReceive: response, cacheStoragePolicy: policy) }

  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { base.urlProtocol(`protocol`, didLoad: data) }

  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
    // A cancelled task ends without this.
    if !invalidate(`protocol`.task, .failure(error)) { base.urlProtocol(`protocol`, didFailWithError: error) }
  }

  /// Starts to remove what the request invalidated; after that, the task ends with `outcome`. Returns `false` if there
  /// is nothing to remove, because no server has responded.
  private func invalidate(_ task: URLSessionTask?, _ outcome: Load.Outcome) -> Bool {
    guard let task, task.state == .running || task.state == .suspended, let head = Self.answer(task) else {
      return false
    }
    load.start(task) { [link, request] in
      await link.invalidate(by: head, to: request)
      return outcome
    }
    return true
  }

  /// The answer to the request of `task`, treated as a success: the request may be repeated with credentials, and even
  /// a failed request may have changed something. The task does not have a redirect that `URLSession` followed, only
  /// the response to the last request.
  private static func answer(_ task: URLSessionTask) -> HTTPResponseHead? {
    if let current = task.currentRequest, current != task.originalRequest {
      return HTTPResponseHead(status: 200, fields: ["Location": current.url?.absoluteString ?? ""])
    }
    guard let response = task.response as? HTTPURLResponse else { return nil }
    var head = HTTPResponseHead(response)
    head.status = 200
    return head
  }

  func urlProtocol(
    _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) { base.urlProtocol(`protocol`, wasRedirectedTo: request, redirectResponse: redirectResponse) }

  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
    base.urlProtocol(`protocol`, cachedResponseIsValid: cachedResponse)
  }

  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    base.urlProtocol(`protocol`, didReceive: challenge)
  }

  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
    base.urlProtocol(`protocol`, didCancel: challenge)
  }
}
