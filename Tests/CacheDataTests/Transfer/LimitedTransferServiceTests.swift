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

  /// A transfer lasts as long as its content: until its end, its failure, or until nobody will read it.
  @Test func contentHoldsItsTurn() async throws {
    let pieces = Mutex<[[UInt8]]>([[1]])
    let ending = HTTPResponse(
      HTTPResponseHead(status: 200), rest: StreamedContent { pieces.withLock { $0.popLast() } })
    let failing = HTTPResponse(
      HTTPResponseHead(status: 200),
      rest: StreamedContent { () throws(CacheError) in throw CacheError(.originUnreachable, "broke off") })
    let answers = ["http://a/end": ending, "http://a/failure": failing]
    for (path, isReleased) in [("end", false), ("failure", false), ("end", true), ("none", false)] {
      let transfer = FakeTransfer(HTTPResponse(HTTPResponseHead(status: 200)), but: answers)
      let service = LimitedTransferService(transfer, limit: 1)
      let response = try await service.transfer(HTTPRequest(url: "http://a/\(path)"))
      let second = Task { try await service.transfer(HTTPRequest(url: "http://a/")) }
      if let rest = response.rest {
        for _ in 0..<10 { await Task.yield() }
        #expect(transfer.requests.count == 1)
        if isReleased { rest.release() } else { while (try? await rest.next()) != nil {} }
      }
      #expect(try await second.value.head.status == 200)
    }
  }

  /// The response that redirects is not read, and must not keep the next request waiting for ever.
  @Test(arguments: ["no-store", "max-age=60"]) func aRedirectionGivesItsTurnBack(control: String) async throws {
    let head = HTTPResponseHead(status: 302, fields: ["Location": "/b", "Cache-Control": control])
    let redirection = HTTPResponse(head, rest: StreamedContent(length: 1 << 40) { [1] })
    let transfer = FakeTransfer(HTTPResponse(HTTPResponseHead(status: 200), body: [2]), but: ["http://a/": redirection])
    let cache = HTTPCache(
      responses: ShelfOfResponses().responses, transfer: LimitedTransferService(transfer, limit: 1),
      services: FetchServices(
        rules: HTTPCacheRules(freshness: HTTPCacheBench.freshness), now: { .seconds(1_000) },
        background: BackgroundWork()))
    var last: HTTPResponse?
    for try await snapshot in cache.followedResponses(
      to: HTTPRequest(url: "http://a/"), options: FetchOptions(), maxRedirects: 5)
    {
      last = snapshot.value.response
    }
    #expect(last?.body == [2] && transfer.requests.map(\.url) == ["http://a/", "http://a/b"])
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
