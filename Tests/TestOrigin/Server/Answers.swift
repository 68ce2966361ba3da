import Synchronization

/// Decides what is answered: first what was queued, then the answer set for all requests, and otherwise what the handler
/// says.
final class Answers: Sendable {
  private let handler: @Sendable (TestRequest) -> TestResponse
  private let state = Mutex<(queue: [TestResponse], override: TestResponse?)>(([], nil))

  init(_ handler: @escaping @Sendable (TestRequest) -> TestResponse) { self.handler = handler }

  func answer(to request: TestRequest) -> TestResponse {
    let told = state.withLock { $0.queue.isEmpty ? $0.override : $0.queue.removeFirst() }
    return told ?? handler(request)
  }

  func enqueue(_ responses: [TestResponse]) { state.withLock { $0.queue += responses } }

  func override(_ response: TestResponse?) { state.withLock { $0.override = response } }
}
