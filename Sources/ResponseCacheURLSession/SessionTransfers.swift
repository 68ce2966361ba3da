internal import CacheData
internal import CacheDomain
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The transfers of a cached session: they go through another session with the same settings and without the cache.
final class SessionTransfers: Sendable {
  private let session: URLSession
  private let receiver: Receiver

  /// Transfers as `configuration` says, of which `limit` bytes of content are held in memory at most.
  init(_ configuration: URLSessionConfiguration, limit: Int) {
    receiver = Receiver(limit: limit)
    // Its own queue: nothing that the program does on its queue keeps responses from being received.
    session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
  }

  /// A session keeps its delegate, and lives until it is invalidated.
  deinit { session.finishTasksAndInvalidate() }

  /// The response to `request`. Where there is more content than is held in memory, the transfer is ended, and the
  /// response has a `rest` that gives nothing.
  func response(to request: URLRequest) async throws(CacheError) -> HTTPResponse {
    let task = session.dataTask(with: request)
    // The stream keeps a result that comes before this task waits for it.
    let (results, source) = AsyncStream.makeStream(of: Receiver.Result.self)
    source.onTermination = {
      guard case .cancelled = $0 else { return }
      // The work queues of all sessions run on one: a task that is cancelled on the queue of another would wait for itself.
      DispatchQueue.global().async { task.cancel() }
    }
    receiver.expect(task, source)
    task.resume()
    for await result in results { return try result.get() }
    throw CacheError(URLError(.cancelled))
  }
}

/// The delegate that puts responses together.
final class Receiver: NSObject, URLSessionDataDelegate {
  typealias Result = Swift.Result<HTTPResponse, CacheError>

  /// A response that is coming in.
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

  /// Each redirection is a response with rules of its own, and the cache follows it.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) { completionHandler(nil) }

  /// Challenges are those of the program's own task: it gets the response that has the challenge.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    conclude(task, nil, withoutResponse: .userAuthenticationRequired)
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  /// Ends the reception of `task`, which failed with `error`, or else has a response or fails with `code`.
  private func conclude(_ task: URLSessionTask, _ error: (any Error)?, withoutResponse code: URLError.Code) {
    guard let reception = end(task) else { return }
    // A redirection without a place to go to is in the task alone.
    switch (error, reception.response ?? task.response as? HTTPURLResponse) {
    case (nil, let response?): reception.end(.success(Self.whole(response, reception)))
    case (nil, nil): reception.end(.failure(CacheError(URLError(code))))
    case (let error?, let response):
      let beginning = response.map { HTTPResponse(HTTPResponseHead($0), body: reception.content) }
      reception.end(.failure(CacheError(error, beginning: beginning)))
    }
  }

  private func giveUp(_ task: URLSessionTask) {
    guard let reception = end(task) else { return }
    task.cancel()
    let head = reception.response.map { HTTPResponseHead($0) } ?? HTTPResponseHead(status: 200)
    reception.end(.success(HTTPResponse(head, rest: StreamedContent { nil })))
  }

  private func end(_ task: URLSessionTask) -> Reception? {
    receptions.withLock { $0.removeValue(forKey: task.taskIdentifier) }
  }

  private static func whole(_ response: HTTPURLResponse, _ reception: Reception) -> HTTPResponse {
    HTTPResponse(HTTPResponseHead(response, decoded: reception.content.count), body: reception.content)
  }
}

/// Carries the requests of one task of a session, and of the redirections that it follows.
struct SessionTransfer: DataTransferService {
  private let transfers: SessionTransfers
  private let template: URLRequest

  /// A transfer whose requests have the settings of `template`, such as its time-out.
  init(_ transfers: SessionTransfers, template: URLRequest) {
    self.transfers = transfers
    self.template = template
  }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    guard let url = URL(string: request.url) else { throw CacheError(URLError(.badURL)) }
    var outgoing = template
    outgoing.url = url
    outgoing.httpMethod = request.method
    for name in (outgoing.allHTTPHeaderFields ?? [:]).keys { outgoing.setValue(nil, forHTTPHeaderField: name) }
    for field in request.fields.lines { outgoing.setValue(request.fields[field.name], forHTTPHeaderField: field.name) }
    // A range of content with a coding could not be decoded.
    if request.fields.contains("range"), !request.fields.contains("accept-encoding") {
      outgoing.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }
    return try await transfers.response(to: outgoing)
  }
}
