internal import Foundation
internal import FoundationNetworking

/// Has the cache know of what a request that came past it has changed, before the request's task ends.
final class InvalidatingClient: NSObject, URLProtocolClient {
  private let base: any URLProtocolClient
  private let load: Load
  private let link: SessionLink
  private let request: URLRequest

  init(_ base: any URLProtocolClient, _ load: Load, _ link: SessionLink, _ request: URLRequest) {
    (self.base, self.load, self.link, self.request) = (base, load, link, request)
  }

  func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {
    guard let task = `protocol`.task, let response = task.response as? HTTPURLResponse else {
      return base.urlProtocolDidFinishLoading(`protocol`)
    }
    load.start(task) { [link, request] in
      await link.invalidate(by: response, to: request)
      return .invalidated
    }
  }

  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) { base.urlProtocol(`protocol`, didReceive: response, cacheStoragePolicy: policy) }

  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { base.urlProtocol(`protocol`, didLoad: data) }

  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
    base.urlProtocol(`protocol`, didFailWithError: error)
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
