internal import CacheCore
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Loads the requests of a session through its cache.
///
/// `URLSession` calls `startLoading` and `stopLoading` on the task's work queue, and only there may its records of the
/// task be changed. So only these two methods call the client: when an outcome is ready, `Load` makes `URLSession` call
/// `startLoading` again.
final class CachingProtocol: URLProtocol {
  private let load = Load()
  /// Loads the request without the cache, as if this class did not exist.
  private var plain: URLProtocol?

  private var link: SessionLink? { SessionLink.link(in: cachedResponse) }

  override class func canInit(with request: URLRequest) -> Bool {
    ["http", "https"].contains(request.url?.scheme?.lowercased())
  }

  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let task, task.state == .running else { return }
    if let outcome = load.takeOutcome() { return deliver(outcome) }
    if load.isUnderWay { return }
    if let plain { return plain.startLoading() }
    guard let link else { return startPlain(client) }
    let request = request
    guard !(task is URLSessionUploadTask), request.isAnswerable else {
      return startPlain(client.map { InvalidatingClient($0, load, link, request) })
    }
    load.start(task) { await link.outcome(of: request) }
  }

  override func stopLoading() {
    guard let task else { return }
    // This may also be the short suspension by `Load`, which is over by now.
    let isCancelled = task.state == .canceling && task.error != nil
    if let plain {
      if isCancelled || task.state == .suspended, !load.isUnderWay { plain.stopLoading() }
    } else if isCancelled {
      load.cancel()
    }
  }

  private func deliver(_ outcome: Load.Outcome) {
    switch outcome {
    case .response(let response, let content):
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      // A completion handler gets only the last piece, so there may be only one.
      if !content.isEmpty { client?.urlProtocol(self, didLoad: content) }
      client?.urlProtocolDidFinishLoading(self)
    case .failure(let error): client?.urlProtocol(self, didFailWithError: error)
    case .plain: startPlain(client)
    case .invalidated: if let plain { client?.urlProtocolDidFinishLoading(plain) }
    }
  }

  private func startPlain(_ client: (any URLProtocolClient)?) {
    guard let task, let type = SessionLink.plainClass(for: request, link) else {
      self.client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL))
      return
    }
    let plain = type.init(task: task, cachedResponse: nil, client: client)
    self.plain = plain
    plain.startLoading()
  }
}

extension URLRequest {
  /// Whether a cache can answer the request.
  fileprivate var isAnswerable: Bool {
    HTTPRequest.retrieves(httpMethod ?? "GET") && httpBody == nil && httpBodyStream == nil
  }
}
