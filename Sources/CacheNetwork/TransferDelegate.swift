internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Hands what a session reports to the receiver of the answer that it is about.
///
/// It is safe to share: its only state is behind a lock. `NSObject`, from which every delegate has to inherit, is not
/// marked as such but has no state of its own.
final class TransferDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let limit: Int
  private let receivers = Mutex<[Int: ResponseReceiver]>([:])

  init(limit: Int) {
    self.limit = limit
  }

  /// Makes ready for the answer to `task`, which has not been resumed.
  func expect(_ task: URLSessionTask, _ errors: TransferErrorResolver) {
    let receiver = ResponseReceiver(limit: limit, errors: errors)
    receivers.withLock { $0[task.taskIdentifier] = receiver }
  }

  /// Begins the transfer, unless it was stopped before.
  func start(_ task: URLSessionTask, _ continuation: ResponseReceiver.Continuation) {
    guard let receiver = receiver(of: task) else {
      continuation.resume(returning: .failure(.cancelled))
      return
    }
    if receiver.deliver(to: continuation) { task.resume() } else { forget(task) }
  }

  /// Ends the transfer at once: whoever waits for it gets `error`, and its connection is closed.
  func stop(_ task: URLSessionTask, because error: CacheError) {
    guard let receiver = receiver(of: task) else { return }
    if receiver.finish(.failure(error)) { forget(task) }
    task.cancel()
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let receiver = receiver(of: dataTask) else { return completionHandler(.cancel) }
    if let error = receiver.receive(response) {
      completionHandler(.cancel)
      stop(dataTask, because: error)
    } else {
      completionHandler(.allow)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if let error = receiver(of: dataTask)?.receive(data) { stop(dataTask, because: error) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let receiver = receiver(of: task) else { return }
    forget(task)
    receiver.complete(task.response, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// A server that asks for credentials has answered: its answer, which is whole by now, is the one to give. Left to
  /// itself the session would wait for credentials and never end the task.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    if let receiver = receiver(of: task) {
      forget(task)
      receiver.complete(challenge.failureResponse ?? task.response, nil)
    }
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  private func receiver(of task: URLSessionTask) -> ResponseReceiver? {
    receivers.withLock { $0[task.taskIdentifier] }
  }

  private func forget(_ task: URLSessionTask) {
    receivers.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) }
  }
}
