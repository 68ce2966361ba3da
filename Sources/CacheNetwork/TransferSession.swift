internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// A URLSession with its delegate.
final class TransferSession: Sendable {
  private let timeout: Duration
  private let delegate: TransferDelegate
  private let session: URLSession

  /// A session that gives a transfer `timeout` from its beginning to its end, and takes at most `limit` bytes.
  init(timeout: Duration, limit: Int) {
    self.timeout = timeout
    delegate = TransferDelegate(limit: limit)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Otherwise the language of the system, on which an answer might depend without the cache's knowing it.
    configuration.httpAdditionalHeaders = ["Accept-Language": "*"]
    // The session counts whole seconds in which nothing comes; the time of the whole is kept here.
    configuration.timeoutIntervalForRequest = Double(timeout.components.seconds) + 2
    // How many transfers run at once is decided elsewhere.
    configuration.httpMaximumConnectionsPerHost = 64
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  func invalidate() {
    session.finishTasksAndInvalidate()
  }

  /// Sends `request`, which is sent as `urlRequest`.
  func transfer(_ request: HTTPRequest, _ urlRequest: URLRequest) async throws(CacheError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    let errors = TransferErrorResolver(request, timeout: timeout)
    let task = session.dataTask(with: urlRequest)
    delegate.expect(task, errors)
    let deadline = Task.detached { [delegate, timeout] in
      try await Task.sleep(for: timeout)
      delegate.stop(task, because: errors.timedOut)
    }
    defer { deadline.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { delegate.start(task, $0) }
    } onCancel: {
      delegate.stop(task, because: .cancelled)
    }
    return try result.get()
  }
}
