import Synchronization
import Testing

@testable import TestOrigin

/// Who waits for a server can be told to stop, as a time limit does.
@Suite(.timeLimit(.minutes(30))) struct WaitingTests {
  @Test func waitsEndWhenTheTaskIsCancelledBefore() async throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let tasks = [Task { await server.received(1) }, Task { await server.abandoned(1) }]
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    #expect(server.count == 0 && server.abandonedCount == 0)
  }

  @Test func waitsEndWhenTheTaskIsCancelledMeanwhile() async {
    let (traffic, looks) = (Traffic(), AsyncStream.makeStream(of: Void.self))
    let task = Task {
      await traffic.wait { _ in
        looks.continuation.yield()
        return false
      }
    }
    for await _ in looks.stream { break }
    task.cancel()
    await task.value
    traffic.begin(TestRequest(method: "GET", target: "/", fields: [:], body: []))
    #expect(traffic.requests.count == 1)
  }

  @Test func oneCancelledTaskLeavesTheOthersWaiting() async {
    let (traffic, looks) = (Traffic(), AsyncStream.makeStream(of: Void.self))
    let cancelled = Task { await traffic.wait { _ in false } }
    let other = Task {
      await traffic.wait { counts in
        looks.continuation.yield()
        return counts.requests == 1
      }
      return traffic.requests.count
    }
    for await _ in looks.stream { break }
    cancelled.cancel()
    await cancelled.value
    traffic.begin(TestRequest(method: "GET", target: "/", fields: [:], body: []))
    #expect(await other.value == 1)
  }
}
