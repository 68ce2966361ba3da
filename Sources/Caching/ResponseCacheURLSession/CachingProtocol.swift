internal import CacheCore
internal import FetchVocabulary
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Loads the requests of a session through its cache.
///
/// `URLSession` calls `startLoading` and `stopLoading` on the task's work queue, and only there can its records of the
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
    // A cache can serve no other requests.
    guard !(task is URLSessionUploadTask), HTTP.Request.retrieves(request.httpMethod ?? "GET"),
      request.httpBody == nil, request.httpBodyStream == nil
    else {
      return startPlain(client.map { InvalidatingClient($0, load, link, request) })
    }
    load.start(task) { await link.outcome(of: request) }
  }

  override func stopLoading() {
    guard let task else { return }
    // This can also be the short suspension by `Load`, which is over by now.
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
      // A completion handler gets only the last piece, so there can be only one.
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

/// Work for a task that runs elsewhere, and its outcome for the task.
final class Load: Sendable {
  enum Outcome: Sendable {
    /// The task gets this response and content.
    case response(HTTPURLResponse, Data)
    /// The task fails.
    case failure(any Error)
    /// Load the request without the cache.
    case plain
    /// The entries that a response which bypassed the cache invalidated have been removed: the task can end.
    case invalidated
  }

  private struct State {
    var work: Task<Void, Never>?
    var outcome: Outcome?
  }

  private let state = Mutex(State())

  /// Whether there is work whose outcome has not been taken.
  var isUnderWay: Bool { state.withLock { $0.work != nil } }

  /// Starts `work`. When it is done, the protocol of `task` is started again, to take the outcome.
  func start(_ task: URLSessionTask, _ work: @escaping @Sendable () async -> Outcome) {
    state.withLock { state in
      state.work = Task {
        let outcome = await work()
        self.state.withLock { $0.outcome = outcome }
        // This leads back to the task's queue. A task that the program has suspended stays suspended, and takes the
        // outcome later.
        task.suspend()
        task.resume()
      }
    }
  }

  /// Returns the outcome once; `nil` if there is none yet.
  func takeOutcome() -> Outcome? {
    state.withLock { state in
      guard let outcome = state.outcome else { return nil }
      state = State()
      return outcome
    }
  }

  /// Cancels the work, whose outcome is no longer needed.
  func cancel() { state.withLock { $0.work }?.cancel() }
}

/// Tells the cache what a request that bypassed it has changed, before the request's task ends.
final class InvalidatingClient: NSObject, URLProtocolClient {
  private let base: any URLProtocolClient
  private let load: Load
  private let link: SessionLink
  private let request: URLRequest

  init(_ base: any URLProtocolClient, _ load: Load, _ link: SessionLink, _ request: URLRequest) {
    self.base = base
    self.load = load
    self.link = link
    self.request = request
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

  /// The response to the request of `task`, treated as a success: the request can be repeated with credentials, and
  /// even a failed request can have changed something. The task does not have a redirect that `URLSession` followed,
  /// only the response to the last request.
  private static func answer(_ task: URLSessionTask) -> HTTP.ResponseHead? {
    if let current = task.currentRequest, current != task.originalRequest {
      return HTTP.ResponseHead(status: 200, fields: ["Location": current.url?.absoluteString ?? ""])
    }
    guard let response = task.response as? HTTPURLResponse else { return nil }
    var head = HTTP.ResponseHead(response)
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
