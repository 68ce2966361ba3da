internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// A URLSession with its delegate.
final class TransferSession: Sendable {
  private let timeout: Duration
  private let delegate: TransferDelegate
  private let session: URLSession
  /// Where the session is called: its calls wait for a queue of its own, for which no thread of the pool must wait.
  private let caller = DispatchQueue(label: "transfer", attributes: .concurrent)

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
    let task = await makeTask(urlRequest)
    delegate.expect(task, errors)
    let deadline = Task.detached { [timeout] in
      try await Task.sleep(for: timeout)
      self.stop(task, because: errors.timedOut)
    }
    defer { deadline.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        caller.async { [delegate] in delegate.start(task, continuation) }
      }
    } onCancel: {
      stop(task, because: .cancelled)
    }
    return try result.get()
  }

  private func makeTask(_ request: URLRequest) async -> URLSessionDataTask {
    await withCheckedContinuation { continuation in
      caller.async { [session] in continuation.resume(returning: session.dataTask(with: request)) }
    }
  }

  private func stop(_ task: URLSessionTask, because error: CacheError) {
    caller.async { [delegate] in delegate.stop(task, because: error) }
  }
}
