import EngineAPI
import Synchronization
import Testing

/// A fetch makes several calls that need the same lock, and waits for it once.
@Suite struct LockPatienceTests {
  enum Call: Sendable { case locked, free, at(Int), noted }

  /// Seconds that each call may wait, of a time-out of 5. A locked one waits as long as it may.
  @Test(
    arguments: [
      ([.locked, .locked, .locked], [5, 0, 0]), ([.locked, .free, .locked], [5, 0, 5]),
      ([.locked, .at(9), .locked], [5, 0]), ([.locked, .at(10), .locked], [5, 5]),
      ([.locked, .at(9), .locked, .at(10), .locked], [5, 0, 5]), ([.free, .locked, .noted, .locked], [5, 5, 5]),
    ] as [([Call], [Int])])
  func onlyTheFirstOfSeveralCallsWaits(calls: [Call], waits: [Int]) {
    let now = Mutex(0)
    let patience = LockPatience(.seconds(5)) { .seconds(now.withLock { $0 }) }
    var found: [Int] = []
    for call in calls {
      switch call {
      case .at(let time): now.withLock { $0 = time }
      case .noted: patience.succeeded()
      case .free, .locked:
        try? patience.wait { duration throws(CacheError) in
          let seconds = Int(duration.components.seconds)
          found.append(seconds)
          guard case .locked = call else { return }
          now.withLock { $0 += seconds }
          throw CacheError(.busy, "locked")
        }
      }
    }
    #expect(found == waits)
  }

  @Test func anotherFailureIsNoReasonToHurry() {
    let patience = LockPatience(.seconds(5)) { .zero }
    for _ in 0..<3 {
      try? patience.wait { duration throws(CacheError) in
        #expect(duration == .seconds(5))
        throw CacheError(.noSpace, "full")
      }
    }
  }
}
