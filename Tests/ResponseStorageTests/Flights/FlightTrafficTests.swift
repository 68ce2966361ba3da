@testable import CacheCore
import StorageConformance
import StorageSPI
import Testing

@Suite(.turnsBeforeOthers, .timeLimit(.minutes(30)))
struct FlightTrafficTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func inOneProcessAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, flights) = (FlightTraffic(seed: seed), LocalFlights())
    await traffic.run(over: [flights])
    #expect(traffic.collisions == 0, "seed \(seed)")
    for key in FlightTraffic.keys { #expect(try await flights.join(key).ticket != nil, "seed \(seed)") }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func inSeveralProcessesAtMostOneLeads(seed: UInt64) async throws {
    let (traffic, test) = (FlightTraffic(seed: seed), try await FlightTest())
    // The clock stands still and the pauses are short, so no lease ever runs out.
    let duration = Duration.seconds(1_000_000)
    let timing = LeaseTiming(duration: duration) { pause in
      if pause >= .seconds(1) { try await test.time.sleep(pause) }
      await Task.yield()
      try Task.checkCancellation()
    }
    let flights = (0..<3).map { _ in
      LeasedFlights(store: test.test.store, processes: test.processes.seen(by: nil), timing: timing)
    }
    await traffic.run(over: flights)
    #expect(traffic.collisions == 0, "seed \(seed)")
    #expect(test.time.sleeps.isEmpty, "nothing is renewed any more; seed \(seed)")
    let leases = try await test.entries()
    #expect(leases.allSatisfy { $0.metadata.state(at: test.test.clock.now) == .expired }, "seed \(seed)")
    for key in FlightTraffic.keys { #expect(try await flights[0].join(key).ticket != nil, "seed \(seed)") }
  }
}
