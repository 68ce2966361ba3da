@testable import CacheCore
import FetchVocabulary
import EngineAPI
import Synchronization

/// Many tasks that join coalescer and finish them, generated from a seed. Some of them are cancelled on the way.
final class RequestTraffic: Sendable {
  static let keys = ["a", "b"]

  /// The actions of one task.
  private struct Trip: Sendable {
    let key: String
    /// How often the task yields before it joins, and before it finishes.
    let delays: (Int, Int)
    /// After how many yields the task is cancelled; `nil` for never.
    let cancelledAfter: Int?
  }

  private let trips: [Trip]
  private let state = Mutex((leaders: Set<String>(), collisions: 0))

  init(seed: UInt64, count: Int = 60) {
    var generator = SeededGenerator(seed: seed)
    trips = (0..<count).map { _ in
      Trip(
        key: Self.keys[Int.random(in: 0..<Self.keys.count, using: &generator)],
        delays: (Int.random(in: 0..<30, using: &generator), Int.random(in: 0..<30, using: &generator)),
        cancelledAfter: Bool.random(using: &generator) ? Int.random(in: 0..<60, using: &generator) : nil)
    }
  }

  /// How often a task led while another one was leading.
  var collisions: Int { state.withLock { $0.collisions } }

  /// Makes all trips concurrently, each with one of `coalescer`, and returns when all have ended.
  func run(over coalescers: [RequestCoalescer]) async {
    await withTaskGroup(of: Void.self) { group in
      for (number, trip) in trips.enumerated() {
        let task = Task { await travel(trip, coalescers[number % coalescers.count]) }
        group.addTask {
          if let count = trip.cancelledAfter {
            await Self.yield(count)
            task.cancel()
          }
          await task.value
        }
      }
    }
  }

  private func travel(_ trip: Trip, _ coalescer: RequestCoalescer) async {
    await Self.yield(trip.delays.0)
    guard case .leading(let token)? = try? await coalescer.join(trip.key) else { return }
    state.withLock { state in
      if !state.leaders.insert(trip.key).inserted { state.collisions += 1 }
    }
    await Self.yield(trip.delays.1)
    state.withLock { _ = $0.leaders.remove(trip.key) }
    await coalescer.finish(token)
  }

  private static func yield(_ count: Int) async {
    for _ in 0..<count { await Task.yield() }
  }
}
