import CacheCore
import HTTPCaching
import ResponseCache
import Synchronization

/// An origin whose requests are numbered from 1 and wait until the test responds to them, each with its number. A
/// request whose task is cancelled continues waiting.
final class StagedOrigin: Sendable {
  private struct State: Sendable {
    var count = 0
    var answered: Set<Int> = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var cancelled: Set<Int> = []
    /// Tests that wait until something holds.
    var watchers: [(isTime: @Sendable (State) -> Bool, test: CheckedContinuation<Void, Never>)] = []

    /// Takes the tests that need not wait any longer.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let now = self
      watchers.removeAll { $0.isTime(now) }
      return now.watchers.filter { $0.isTime(now) }.map(\.test)
    }
  }

  private let state = Mutex(State())
  private let confirms: Bool

  /// - Parameter confirms: whether it responds to conditional requests with status 304.
  init(confirms: Bool = false) { self.confirms = confirms }

  /// The number of requests so far.
  var count: Int { state.withLock { $0.count } }

  func isCancelled(_ number: Int) -> Bool { state.withLock { $0.cancelled.contains(number) } }

  /// Responds to request `number`, even if it has not arrived yet.
  func answer(_ number: Int) {
    let waiting = state.withLock { state in
      state.answered.insert(number)
      return state.waiting.removeValue(forKey: number)
    }
    waiting?.resume()
  }

  /// Returns once `count` requests have arrived.
  func arrival(of count: Int) async { await waits { $0.count >= count } }

  /// Returns once the task of request `number` is cancelled.
  func cancellation(of number: Int) async { await waits { $0.cancelled.contains(number) } }

  /// A test that is cancelled continues, too.
  private func waits(until isTime: @escaping @Sendable (State) -> Bool) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { test in
        if Task.isCancelled { return test.resume() }
        change { $0.watchers.append((isTime, test)) }
      }
    } onCancel: {
      let tests = state.withLock { state in
        defer { state.watchers = [] }
        return state.watchers.map(\.test)
      }
      for test in tests { test.resume() }
    }
  }

  /// Changes the state, and lets the tests continue that waited for that.
  @discardableResult private func change<Output: Sendable>(_ body: (inout State) -> Output) -> Output {
    let (output, ready) = state.withLock { state in (body(&state), state.takeReady()) }
    for test in ready { test.resume() }
    return output
  }

  /// Waits for a response, and returns the number of the request.
  func request() async -> Int {
    let number = change { state in
      state.count += 1
      return state.count
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAnswered = state.withLock { state in
          if !state.answered.contains(number) { state.waiting[number] = continuation }
          return state.answered.contains(number)
        }
        if isAnswered { continuation.resume() }
      }
    } onCancel: {
      change { _ = $0.cancelled.insert(number) }
    }
    return number
  }
}

extension StagedOrigin: DataTransferService {
  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let number = await self.request()
    let isConfirmed = confirms && request.fields.contains("if-none-match")
    let fields: HTTP.Fields = [
      "Cache-Control": "max-age=100, stale-while-revalidate=1000", "ETag": isConfirmed ? "\"1\"" : "\"\(number)\"",
    ]
    let head = HTTP.ResponseHead(status: isConfirmed ? 304 : 200, fields: fields)
    return HTTP.Response(head, body: isConfirmed ? [] : Array("\(number)".utf8))
  }
}

/// Returns once `condition` holds.
func becomes(_ condition: () async throws -> Bool) async throws {
  while try await !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
