internal import CacheCore
internal import FetchVocabulary
internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The transfers of a cached session. They use another session with the same settings, but without the cache.
final class SessionTransfers: Sendable {
  private let session: URLSession
  private let receiver: Receiver

  /// Creates transfers that use `configuration`, without its `urlCache`, and hold at most `limit` bytes of content in
  /// memory.
  init(_ configuration: URLSessionConfiguration, limit: Int) {
    // It would keep what the cache keeps. On Linux it also ends the process if a task is cancelled while `URLSession`
    // looks for its response.
    configuration.urlCache = nil
    receiver = Receiver(limit: limit)
    // A separate queue: work on the program's queue must not delay responses.
    session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
  }

  /// Ends the session, which otherwise keeps its delegate and itself alive.
  deinit { session.finishTasksAndInvalidate() }

  /// The response to `request`. If there is more content than can be held in memory, the transfer ends, and the
  /// response has a `rest` that fails.
  func response(to request: URLRequest) async throws(CacheError) -> HTTP.Response {
    let task = session.dataTask(with: request)
    // The stream keeps a result that arrives before this task waits for it.
    let (results, source) = AsyncStream.makeStream(of: Receiver.Result.self)
    source.onTermination = {
      guard case .cancelled = $0 else { return }
      // The work queues of all sessions run on one queue: cancelling a task on another session's queue would deadlock.
      DispatchQueue.global().async { task.cancel() }
    }
    receiver.expect(task, source)
    task.resume()
    for await result in results { return try result.get() }
    throw CacheError(URLError(.cancelled))
  }
}

/// The delegate that assembles responses.
final class Receiver: NSObject, URLSessionDataDelegate {
  typealias Result = Swift.Result<HTTP.Response, CacheError>

  /// A response that is arriving.
  private struct Reception {
    let source: AsyncStream<Result>.Continuation
    var response: HTTPURLResponse?
    var content: [UInt8] = []

    func end(_ result: Result) {
      source.yield(result)
      source.finish()
    }
  }

  private let limit: Int
  private let receptions = Mutex<[Int: Reception]>([:])

  init(limit: Int) { self.limit = limit }

  /// Sends the result of `task` to `source`. Call it before the task is resumed.
  func expect(_ task: URLSessionTask, _ source: AsyncStream<Result>.Continuation) {
    receptions.withLock { $0[task.taskIdentifier] = Reception(source: source) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    receptions.withLock { $0[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse }
    let hasContent = dataTask.originalRequest?.httpMethod != "HEAD"
    if hasContent, response.expectedContentLength > Int64(limit) { giveUp(dataTask) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let count = receptions.withLock { receptions in
      receptions[dataTask.taskIdentifier]?.content.append(contentsOf: data)
      return receptions[dataTask.taskIdentifier]?.content.count ?? 0
    }
    if count > limit { giveUp(dataTask) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    conclude(task, error, withoutResponse: .badServerResponse)
  }

  /// Returns each redirect as its own response, cached by its own rules. The cache follows it.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) { completionHandler(nil) }

  /// Leaves challenges to the program's own task: it gets the response with the challenge.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    conclude(task, nil, withoutResponse: .userAuthenticationRequired)
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  /// Ends the reception of `task`: with `error` if it failed, otherwise with its response, or with `code` if there is
  /// none.
  private func conclude(_ task: URLSessionTask, _ error: (any Error)?, withoutResponse code: URLError.Code) {
    guard let reception = end(task) else { return }
    // Only the task has a redirect without a location.
    switch (error, reception.response ?? task.response as? HTTPURLResponse) {
    case (nil, let response?):
      let head = HTTP.ResponseHead(response, decoded: reception.content.count)
      reception.end(.success(HTTP.Response(head, body: reception.content)))
    case (nil, nil): reception.end(.failure(CacheError(URLError(code))))
    case (let error?, let response):
      let beginning = response.map { HTTP.Response(HTTP.ResponseHead($0), body: reception.content) }
      reception.end(.failure(CacheError(error, beginning: beginning)))
    }
  }

  private func giveUp(_ task: URLSessionTask) {
    guard let reception = end(task) else { return }
    task.cancel()
    let head = reception.response.map { HTTP.ResponseHead($0) } ?? HTTP.ResponseHead(status: 200)
    // Its length says that a cache does not keep it. Whoever reads it nevertheless does not take it for empty content.
    let rest = StreamedContent(length: max(limit + 1, Int(reception.response?.expectedContentLength ?? 0))) {
      [limit] () throws(CacheError) in
      throw CacheError(.tooLarge, "the content has more than \(limit) bytes")
    }
    reception.end(.success(HTTP.Response(head, rest: rest)))
  }

  private func end(_ task: URLSessionTask) -> Reception? {
    receptions.withLock { $0.removeValue(forKey: task.taskIdentifier) }
  }
}

/// Carries the requests of one task of a session, and of the redirects that it follows.
struct SessionTransfer: DataTransferService {
  private let transfers: SessionTransfers
  private let template: URLRequest

  /// Creates a transfer whose requests have the settings of `template`, such as its timeout.
  init(_ transfers: SessionTransfers, template: URLRequest) {
    self.transfers = transfers
    self.template = template
  }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    guard let url = URL(string: request.url) else { throw CacheError(URLError(.badURL)) }
    var outgoing = template
    outgoing.url = url
    outgoing.httpMethod = request.method
    for name in (outgoing.allHTTPHeaderFields ?? [:]).keys { outgoing.setValue(nil, forHTTPHeaderField: name) }
    for field in request.fields.lines { outgoing.setValue(request.fields[field.name], forHTTPHeaderField: field.name) }
    // Part of compressed content could not be decoded.
    if request.fields.contains("range"), !request.fields.contains("accept-encoding") {
      outgoing.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
    return try await transfers.response(to: outgoing)
  }
}
