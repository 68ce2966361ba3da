import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

/// What other programs see on the servers while four processes write to a store at its bounds.
@Suite("Four processes write to a full store", .serialized)
struct RedisBoundsTests {
  /// The processes. They also end when their servers do.
  private struct Writers {
    private let children: [ChildProcess]

    init(_ engine: String, _ url: String, prefix: String, _ bounds: StoreBounds) throws {
      let program = BuiltProducts.path("RedisExerciser")
      children = try (0..<4).map { number in
        try ChildProcess([
          program, engine, url, prefix, "\(bounds.maxEntries)", "\(bounds.maxPayloadBytes)",
          "\(Load.seed &* 4 &+ UInt64(number))",
        ])
      }
      for child in children { #expect(child.firstOutput() == "OPEN\n") }
    }

    /// Ends the processes. Returns how many writes and evictions each reports.
    func end() throws -> [(writes: Int, evictions: Int)] {
      for child in children { child.signal(SIGTERM) }
      return try children.map { child in
        let (output, hasSucceeded) = child.finish()
        let words = output.split(whereSeparator: \.isWhitespace)
        guard hasSucceeded, words.count == 3, let writes = Int(words[1]), let evictions = Int(words[2]) else {
          throw RedisServer.Failure(description: "a writer ended: \(output)")
        }
        return (writes, evictions)
      }
    }
  }

  /// What a number of samples show.
  private struct Findings: CustomStringConvertible {
    let bounds: StoreBounds
    var count = 0
    /// How many samples differ from the one before.
    var different = 0
    /// How many changes the store has seen since it was nearly full.
    var changesWhenFull: Int { firstFull.map { last.changes - $0.changes } ?? 0 }
    private var most = SlotTally.Count()
    private var last = StoreSampler.Sample()
    private var firstFull: StoreSampler.Sample?

    init(_ bounds: StoreBounds) { self.bounds = bounds }

    mutating func note(_ sample: StoreSampler.Sample) {
      count += 1
      if sample.changes != last.changes { different += 1 }
      let held = sample.held
      most = SlotTally.Count(
        entries: max(most.entries, held.entries), payloadBytes: max(most.payloadBytes, held.payloadBytes))
      if held.entries > bounds.maxEntries * 9 / 10 || held.payloadBytes > bounds.maxPayloadBytes * 9 / 10 {
        firstFull = firstFull ?? sample
      }
      last = sample
    }

    /// The most that was there beyond the bounds.
    var excess: SlotTally.Count {
      SlotTally.Count(
        entries: max(most.entries - bounds.maxEntries, 0),
        payloadBytes: max(most.payloadBytes - bounds.maxPayloadBytes, 0))
    }

    var description: String {
      "\(count) samples, \(different) of them different from the one before, \(changesWhenFull) changes to the full store, "
        + "at most \(most.entries) of \(bounds.maxEntries) entries and \(most.payloadBytes) of \(bounds.maxPayloadBytes) bytes"
    }
  }

  @Test("On one server the bounds hold at every moment, and the tally is what is there")
  func server() throws {
    let server = try RedisServer()
    let bounds = StoreBounds(maxEntries: 100, maxPayloadBytes: 100_000, exemptNamespace: "leases")
    let (sampler, writers) = (
      try StoreSampler([server], prefix: "cachectl"),
      try Writers("redis", server.url, prefix: "cachectl", bounds)
    )
    var findings = Findings(bounds)
    while findings.count < (Load.isThorough ? 200_000 : 20_000) || findings.changesWhenFull < 1_000 {
      let sample = try sampler.sample()
      findings.note(sample)
      #expect(sample.counted == sample.held && sample.lines == sample.held.entries)
      #expect(sample.held.entries <= bounds.maxEntries && sample.held.payloadBytes <= bounds.maxPayloadBytes)
    }
    let ends = try writers.end()
    Load.report("one server: \(findings); writes and evictions of each process: \(ends)")
    #expect(ends.allSatisfy { $0.writes > 0 && $0.evictions > 0 })
    #expect(findings.different > 100)
  }

  /// Each of the writers may add up to a 64th of the room of a second ago before it counts again, and then one entry at
  /// the same moment as the others.
  @Test("On a cluster they are exceeded by no more than what the writers could not know")
  func cluster() throws {
    let cluster = try RedisCluster(replicas: 0)
    let bounds = StoreBounds(maxEntries: 500, maxPayloadBytes: 500_000, exemptNamespace: "leases")
    for round in 1...(Load.isThorough ? 10 : 1) {
      let (sampler, writers) = (
        try StoreSampler(try cluster.masters(), prefix: "round-\(round)"),
        try Writers("rediscluster", cluster.url, prefix: "round-\(round)", bounds)
      )
      var findings = Findings(bounds)
      while findings.count < 200 || findings.changesWhenFull < (Load.isThorough ? 2_000 : 200) {
        let sample = try sampler.sample()
        findings.note(sample)
        #expect(sample.counted == sample.held && sample.lines == sample.held.entries)
        // The writers need the servers too.
        usleep(10_000)
      }
      let ends = try writers.end()
      Load.report("a cluster: \(findings); writes and evictions of each process: \(ends)")
      #expect(findings.excess.entries <= 4 * (bounds.maxEntries / 64 + 1))
      #expect(findings.excess.payloadBytes <= 4 * (bounds.maxPayloadBytes / 64 + 2_000))
      #expect(ends.allSatisfy { $0.writes > 0 })
    }
  }
}
