internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking

/// A URLSession with its delegate.
final class TransferSession: Sendable {
  private let delegate = TransferDelegate()
  private let session: URLSession

  init(timeout: Duration) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // Otherwise the language of the system, on which an answer might depend without the cache's knowing it.
    configuration.httpAdditionalHeaders = ["Accept-Language": "*"]
    let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18
    configuration.timeoutIntervalForRequest = seconds
    configuration.timeoutIntervalForResource = seconds * 10
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  func invalidate() {
    session.finishTasksAndInvalidate()
  }

  /// Sends `request`; an answer longer than `limit` bytes is broken off.
  func transfer(_ request: URLRequest, limit: Int) async throws(CacheError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    let task = session.dataTask(with: request)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        delegate.begin(task, limit: limit, continuation)
        task.resume()
        // A task that was cancelled before it was known to the delegate is not told to anybody otherwise.
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      task.cancel()
    }
    if Task.isCancelled { throw .cancelled }
    return try result.get()
  }
}
