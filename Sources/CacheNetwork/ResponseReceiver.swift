internal import CacheData
internal import CacheDomain
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Gathers one answer as it comes in, and gives it to whoever waits for it, once.
final class ResponseReceiver: Sendable {
  /// Where the answer goes.
  typealias Continuation = CheckedContinuation<Result<HTTPResponse, CacheError>, Never>

  private struct State {
    var head: HTTPResponseHead?
    var body: [UInt8] = []
    var result: Result<HTTPResponse, CacheError>?
    var continuation: Continuation?
  }

  private let limit: Int
  private let errors: TransferErrorResolver
  private let state = Mutex(State())

  init(limit: Int, errors: TransferErrorResolver) {
    self.limit = limit
    self.errors = errors
  }

  /// Has the result given to `continuation`. False where there is one already, which it then got.
  func deliver(to continuation: Continuation) -> Bool {
    let result = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let result { continuation.resume(returning: result) }
    return result == nil
  }

  /// Ends the answer with `result`, unless it has ended. True where somebody was waiting for it, who has it now.
  @discardableResult
  func finish(_ result: Result<HTTPResponse, CacheError>) -> Bool {
    let continuation = state.withLock { state -> Continuation? in
      if state.result == nil { state.result = result }
      state.body = []
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: result)
    return continuation != nil
  }

  /// Takes the head of the answer. The error is why the rest is not wanted.
  func receive(_ response: URLResponse) -> CacheError? {
    guard let response = response as? HTTPURLResponse else { return errors.noHTTP }
    let head = HTTPResponseHead(response)
    state.withLock { state in
      state.head = head
      state.body = []
    }
    let announced = errors.hasBody(head) ? head.contentLength ?? 0 : 0
    return announced > limit ? errors.tooLarge(limit) : nil
  }

  /// Takes a part of the body. The error is why the rest is not wanted.
  func receive(_ data: Data) -> CacheError? {
    let isTooLarge = state.withLock { state in
      guard data.count <= limit - state.body.count else { return true }
      state.body.append(contentsOf: data)
      return false
    }
    return isTooLarge ? errors.tooLarge(limit) : nil
  }

  /// Ends the answer as the session says: with an error, or whole.
  func complete(_ response: URLResponse?, _ error: (any Error)?) {
    if let error { return _ = finish(.failure(errors.error(for: error))) }
    // The head of a redirection is not reported before the end.
    let lateHead = (response as? HTTPURLResponse).map(HTTPResponseHead.init)
    let (head, body) = state.withLock { ($0.head ?? lateHead, $0.body) }
    finish(head.map { errors.checked(HTTPResponse($0, body: body)) } ?? .failure(errors.noHTTP))
  }
}
