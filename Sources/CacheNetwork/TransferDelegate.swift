internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Gathers the answers of a session's tasks.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
  typealias Continuation = CheckedContinuation<Result<HTTPResponse, CacheError>, Never>

  /// An answer on its way.
  fileprivate struct Transfer {
    let limit: Int
    let continuation: Continuation
    var head: HTTPResponseHead?
    var body: [UInt8] = []
    var isTooLong = false
  }

  private let transfers = Mutex<[Int: Transfer]>([:])

  func begin(_ task: URLSessionTask, limit: Int, _ continuation: Continuation) {
    transfers.withLock { $0[task.taskIdentifier] = Transfer(limit: limit, continuation: continuation) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let isAllowed = transfers.withLock { transfers in
      transfers[dataTask.taskIdentifier]?.begin(response) ?? false
    }
    completionHandler(isAllowed ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isAllowed = transfers.withLock { transfers in
      transfers[dataTask.taskIdentifier]?.append(data) ?? false
    }
    if !isAllowed { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let transfer = transfers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    let host = task.originalRequest?.url?.host ?? "the server"
    transfer.continuation.resume(returning: transfer.result(error, host: host))
  }
}

extension TransferDelegate.Transfer {
  /// Notes the head, and says whether the rest is wanted.
  fileprivate mutating func begin(_ response: URLResponse) -> Bool {
    head = (response as? HTTPURLResponse).map { HTTPResponseHead($0) }
    isTooLong = response.expectedContentLength > Int64(limit)
    return !isTooLong
  }

  /// Takes more of the content, and says whether the rest is wanted.
  fileprivate mutating func append(_ data: Data) -> Bool {
    isTooLong = isTooLong || body.count + data.count > limit
    if isTooLong { body = [] } else { body += data }
    return !isTooLong
  }

  fileprivate func result(_ error: (any Error)?, host: String) -> Result<HTTPResponse, CacheError> {
    if isTooLong {
      return .failure(
        CacheError(
          .invalidAnswer, "\(host) sent more than the \(limit) bytes that are accepted",
          hint: "raise maxResponseBytes in the configuration of the origin"))
    }
    if let error { return .failure(CacheError(transferFailure: error, host: host)) }
    guard var head else {
      return .failure(CacheError(.originUnreachable, "\(host) sent no answer", hint: "try again later"))
    }
    head.describe(body)
    return .success(HTTPResponse(head, body: body))
  }
}

extension HTTPResponseHead {
  fileprivate init(_ response: HTTPURLResponse) {
    let lines = response.allHeaderFields.compactMap { name, value in
      (name as? String).map { HTTPFields.Field($0, "\(value)") }
    }
    // The dictionary has no order of its own: an order that is always the same makes answers comparable.
    self.init(
      status: response.statusCode,
      fields: HTTPFields(lines.sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }))
  }

  /// Makes the head say what `body` is, after the codings of content and transfer were undone.
  fileprivate mutating func describe(_ body: [UInt8]) {
    fields["Transfer-Encoding"] = nil
    guard !body.isEmpty, fields.contains("Content-Encoding") else { return }
    fields["Content-Encoding"] = nil
    fields["Content-Length"] = String(body.count)
  }
}
