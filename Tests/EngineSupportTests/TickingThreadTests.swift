import Synchronization
import Testing

@testable import EngineSupport

@Suite struct TickingThreadTests {
  /// Counts the ticks; each of the first `repetitions` asks for another one.
  private final class Ticks: Sendable {
    let count = Atomic<Int>(0)
    private let repetitions: Int

    init(repetitions: Int) { self.repetitions = repetitions }

    func tick() -> Bool { count.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue < repetitions }

    func reach(_ number: Int) async {
      while count.load(ordering: .sequentiallyConsistent) < number { await Task.yield() }
    }
  }

  @Test(arguments: [0, 3]) func itGoesOnForAsLongAsThereIsWork(repetitions: Int) async {
    let ticks = Ticks(repetitions: repetitions)
    let thread = TickingThread(interval: .microseconds(10)) { ticks.tick() }
    #expect(ticks.count.load(ordering: .sequentiallyConsistent) == 0)
    #expect(thread.wake())
    await ticks.reach(repetitions + 1)
    #expect(thread.wake())
    await ticks.reach(repetitions + 2)
    thread.stop()
  }

  @Test(arguments: [false, true]) func itEndsWhenStopped(isWaiting: Bool) async {
    weak var stopped: TickingThread?
    do {
      let ticks = Ticks(repetitions: 0)
      let thread = TickingThread(interval: isWaiting ? .seconds(3_600) : .microseconds(10)) { ticks.tick() }
      stopped = thread
      #expect(thread.wake())
      if !isWaiting { await ticks.reach(1) }
      thread.stop()
    }
    // The thread itself holds it until it ends.
    while stopped != nil { await Task.yield() }
    #expect(stopped == nil)
  }
}
