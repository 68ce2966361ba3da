import Synchronization

/// What a server has seen so far.
final class Traffic: Sendable {
  private struct State {
    var requests: [TestRequest] = []
    var connections = 0
    var abandoned = 0
    var sent = 0
    var current = 0
    var highest = 0
    var waiting: [UInt64: (isMet: @Sendable (Counts) -> Bool, continuation: CheckedContinuation<Void, Never>)] = [:]
    /// The number of the next task that waits.
    var number: UInt64 = 0

    var counts: Counts { Counts(requests: requests.count, abandoned: abandoned) }

    /// The tasks whose conditions are met now, which wait no longer.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let counts = counts
      let ready = waiting.filter { $0.value.isMet(counts) }
      for number in ready.keys { waiting[number] = nil }
      return ready.values.map(\.continuation)
    }
  }

  /// What tasks wait for.
  struct Counts: Sendable {
    let requests: Int
    let abandoned: Int
  }

  private let state = Mutex(State())

  var requests: [TestRequest] { state.withLock(\.requests) }
  var connections: Int { state.withLock(\.connections) }
  var sent: Int { state.withLock(\.sent) }
  var abandoned: Int { state.withLock(\.abandoned) }
  var highest: Int { state.withLock(\.highest) }

  func connect() { state.withLock { $0.connections += 1 } }

  func send(_ count: Int) { state.withLock { $0.sent += count } }

  func begin(_ request: TestRequest) {
    resume { state in
      state.requests.append(request)
      state.current += 1
      state.highest = max(state.highest, state.current)
    }
  }

  /// Ends the answer to a request, however it ends.
  func end() { state.withLock { $0.current -= 1 } }

  /// Counts an answer that the peer did not wait for.
  func abandon() { resume { $0.abandoned += 1 } }

  /// Forgets the requests.
  func clear() { state.withLock { $0.requests = [] } }

  /// Waits until `isMet` holds, or the task is cancelled.
  func wait(_ isMet: @escaping @Sendable (Counts) -> Bool) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        resume { $0.waiting[number] = (isMet, continuation) }
        // The handler may have been called before there was anything to resume.
        if Task.isCancelled { giveUp(number) }
      }
    } onCancel: {
      giveUp(number)
    }
  }

  private func giveUp(_ number: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
  }

  private func resume(_ change: (inout sending State) -> Void) {
    let ready = state.withLock { state in
      change(&state)
      return state.takeReady()
    }
    for continuation in ready { continuation.resume() }
  }
}
