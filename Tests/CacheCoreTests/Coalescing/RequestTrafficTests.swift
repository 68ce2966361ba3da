@testable import CacheCore
import EngineConformance
import EngineAPI
import Testing

@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct RequestTrafficTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func inOneProcessAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, coalescer) = (RequestTraffic(seed: seed), RequestCoalescer())
    await traffic.run(over: [coalescer])
    #expect(traffic.collisions == 0, "seed \(seed)")
    for key in RequestTraffic.keys { #expect(try await coalescer.join(key).token != nil, "seed \(seed)") }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func inSeveralProcessesAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, test) = (RequestTraffic(seed: seed), try await CoalescingTest())
    // The clock stands still and the pauses are short, so no lease ever runs out.
    let duration = Duration.seconds(1_000_000)
    let options = LeaseOptions(duration: duration, processes: test.processes.seen(by: nil)) { pause in
      if pause >= .seconds(1) { try await test.time.sleep(pause) }
      await Task.yield()
      try Task.checkCancellation()
    }
    let coalescers = (0..<3).map { _ in
      EntryStore(engine: test.test.engine, clock: test.test.clock, leases: options).coalescer
    }
    await traffic.run(over: coalescers)
    #expect(traffic.collisions == 0, "seed \(seed)")
    #expect(test.time.sleeps.isEmpty, "nothing is renewed any more; seed \(seed)")
    let leases = try await test.entries()
    #expect(leases.allSatisfy { $0.metadata.state(at: test.test.clock.now) == .expired }, "seed \(seed)")
    for key in RequestTraffic.keys { #expect(try await coalescers[0].join(key).token != nil, "seed \(seed)") }
  }
}
