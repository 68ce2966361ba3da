import EngineAPI
import Synchronization
import Testing

@Suite struct BlockingExecutorTests {
  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  private final class Outcome: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  private let executor = BlockingExecutor()

  @Test func resultsAndErrorsArePassedOn() async throws {
    #expect(try await executor.run { 42 } == 42)
    let error = await #expect(throws: CacheError.self) {
      try await executor.run { () throws(CacheError) in throw .storeClosed }
    }
    #expect(error?.code == .closed)
  }

  @Test func workNeverOverlaps() async throws {
    let running = Counter()
    let executor = executor
    let overlaps = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          try await executor.run {
            let before = running.value.add(1, ordering: .relaxed).oldValue
            running.value.subtract(1, ordering: .relaxed)
            return before != 0
          }
        }
      }
      return try await group.reduce(false) { $0 || $1 }
    }
    #expect(!overlaps)
  }

  /// Some of so many are done before they are awaited. The thread sanitizer must find a result that is not completely
  /// visible.
  @Test func resultsAreSeenCompletely() async throws {
    for number in 0..<2_000 {
      let outcome = try await BlockingExecutor().run { Outcome(number) }
      #expect(outcome.number == number)
    }
  }
}
