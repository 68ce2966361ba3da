import CacheCore
import FetchVocabulary
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30)))
struct LimitedTransferServiceTests {
  @Test(arguments: [1, 3, 20])
  func limitsTransfersAtOnce(_ limit: Int) async throws {
    let held = HeldTransfer()
    let service = LimitedTransferService(held, limit: limit)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<30 {
        group.addTask { _ = try await service.transfer(HTTPRequest(url: "http://a/\(number)")) }
      }
      for number in 0..<30 {
        // The limit is reached before any of them ends.
        while held.started.count < min(number + limit, 30) { await Task.yield() }
        #expect(held.started.count - number <= limit)
        held.finishOne()
      }
      try await group.waitForAll()
    }
    #expect(held.greatest == limit)
  }

  @Test func cancelledWaiterLeavesTheQueue() async throws {
    let held = HeldTransfer()
    let service = LimitedTransferService(held, limit: 1)
    let first = Task { try await service.transfer(HTTPRequest(url: "http://a/1")) }
    while held.started.isEmpty { await Task.yield() }
    let second = Task { try await service.transfer(HTTPRequest(url: "http://a/2")) }
    second.cancel()
    let error = await #expect(throws: CacheError.self) { try await second.value }
    #expect(error?.code == .cancelled)
    let third = Task { try await service.transfer(HTTPRequest(url: "http://a/3")) }
    held.finishOne()
    _ = try await first.value
    while held.started.count < 2 { await Task.yield() }
    held.finishOne()
    _ = try await third.value
    #expect(held.started == ["http://a/1", "http://a/3"])
  }

  @Test func failureGivesItsTurnBack() async throws {
    let failing = FakeTransfer(failing: CacheError(.originUnreachable, "no"))
    let service = LimitedTransferService(failing, limit: 1)
    for _ in 0..<2 {
      await #expect(throws: CacheError.self) { try await service.transfer(HTTPRequest(url: "http://a/")) }
    }
    #expect(failing.requests.count == 2)
  }

  /// A transfer that ends on demand, in the order of the requests.
  private final class HeldTransfer: DataTransferService {
    private struct State {
      var started: [String] = []
      var greatest = 0
      var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The requested URLs, in order.
    var started: [String] { state.withLock { $0.started } }
    /// The highest number of concurrent requests.
    var greatest: Int { state.withLock { $0.greatest } }

    /// Ends the oldest transfer under way.
    func finishOne() {
      let first = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
      first?.resume()
    }

    func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          state.started.append(request.url)
          state.held.append(continuation)
          state.greatest = max(state.greatest, state.held.count)
        }
      }
      return HTTPResponse(HTTPResponseHead(status: 200))
    }
  }
}
