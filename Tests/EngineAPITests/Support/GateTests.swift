import EngineAPI
import CacheBase
import Synchronization
import Testing

@Suite struct GateTests {
  /// The state that all threads see.
  private final class Room: Sendable {
    let gate = Gate()
    let inside = Atomic<Int>(0)
    let isTaken = Atomic<Bool>(false)
    let faults = Atomic<Int>(0)
    let visits = Atomic<Int>(0)

    func visit() {
      gate.enter()
      inside.add(1, ordering: .sequentiallyConsistent)
      if isTaken.load(ordering: .sequentiallyConsistent) { faults.add(1, ordering: .relaxed) }
      inside.subtract(1, ordering: .sequentiallyConsistent)
      gate.leave()
      visits.add(1, ordering: .relaxed)
    }

    func takeAlone() {
      gate.alone {
        if isTaken.exchange(true, ordering: .sequentiallyConsistent) { faults.add(1, ordering: .relaxed) }
        if inside.load(ordering: .sequentiallyConsistent) != 0 { faults.add(1, ordering: .relaxed) }
        isTaken.store(false, ordering: .sequentiallyConsistent)
      }
    }
  }

  @Test func aThreadThatIsAloneIsAlone() throws {
    let room = Room()
    var threads: [SystemThread] = []
    for _ in 0..<4 { threads.append(try #require(SystemThread.start { for _ in 0..<20_000 { room.visit() } })) }
    for _ in 0..<2 { threads.append(try #require(SystemThread.start { for _ in 0..<500 { room.takeAlone() } })) }
    for thread in threads { thread.join() }
    #expect(room.faults.load(ordering: .relaxed) == 0)
    #expect(room.visits.load(ordering: .relaxed) == 80_000)
  }
}
