import Foundation
import StorageSPI
import Synchronization
import Testing

@testable import HiredisStorage

/// What writers have done so far.
private final class WriteLog: Sendable {
  private struct State {
    var acknowledged: [String] = []
    var errors: [CacheError] = []
    var isOver = false
  }

  private let state = Mutex(State())

  var acknowledged: [String] { state.withLock { $0.acknowledged } }
  var errors: [CacheError] { state.withLock { $0.errors } }
  var isOver: Bool { state.withLock { $0.isOver } }

  func acknowledge(_ key: String) { state.withLock { $0.acknowledged.append(key) } }
  func note(_ error: CacheError) { state.withLock { $0.errors.append(error) } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("A node of a cluster is lost", .serialized)
struct RedisFailoverTests {
  /// Writes entries of new keys through `engine` until the log is ended.
  private func write(_ engine: any StorageEngine, _ name: String, _ log: WriteLog) async throws {
    var number = 0
    while !log.isOver {
      let key = "cities/\(name)/\(number)"
      number += 1
      do {
        try await engine.put(key, "value of \(key)")
        log.acknowledge(key)
      } catch let error as CacheError {
        log.note(error)
      }
    }
  }

  @Test(
    "Every acknowledged write is there after a master was killed, and no error is taken for success",
    .timeLimit(.minutes(9)))
  func killedMaster() async throws {
    let cluster = try RedisCluster(timeout: 1_000)
    // No replica replaces a master that only has to wait for the processor, nor the victim before the impatient writer
    // has noticed its loss.
    for node in cluster.nodes { try node.ask("CONFIG", "SET", "cluster-replica-no-failover", "yes") }
    let (patient, impatient) = (WriteLog(), WriteLog())
    let plugin = RedisPlugin(.cluster)
    let full = ["durability": OptionValue.text("full")]
    let engine = try await plugin.open(cluster.url, full)
    let other = try await patiently {
      try await plugin.open(cluster.url, full.merging(["timeout": .integer(1_000)]) { $1 })
    }
    let victim = try #require(try cluster.masters().first)
    let slot = try #require(try cluster.firstSlot(of: victim))
    let witness = try #require(try cluster.masters().last)
    let successor = try #require(try cluster.replica(of: victim))

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 { group.addTask { try await write(engine, "patient\(number)", patient) } }
      group.addTask { try await write(other, "impatient", impatient) }
      group.addTask {
        defer { [patient, impatient].forEach { $0.end() } }
        try await until("there are writes before the kill") {
          patient.acknowledged.count > 300 && impatient.acknowledged.count > 50
        }
        let errorsBefore = impatient.errors.count
        victim.stop()
        try await until("the impatient writer has an error") { impatient.errors.count > errorsBefore }
        try successor.ask("CONFIG", "SET", "cluster-replica-no-failover", "no")
        try await until("a replica is promoted, and all slots are served again") {
          let owner = try cluster.owner(of: slot, asking: witness)
          let isServed = try witness.ask("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true
          return isServed && owner != nil && owner?.port != victim.port
        }
        let before = (patient.acknowledged.count, impatient.acknowledged.count)
        try await until("there are writes after the kill") {
          patient.acknowledged.count > before.0 + 300 && impatient.acknowledged.count > before.1 + 50
        }
      }
      try await group.waitForAll()
    }

    #expect(patient.errors.isEmpty, "what is retried within the time-out: \(patient.errors.map(\.description))")
    #expect(!impatient.errors.isEmpty)
    for error in impatient.errors { #expect([.unreachable, .busy].contains(error.code), "\(error.description)") }
    let there = Set(try await engine.keys())
    for key in patient.acknowledged + impatient.acknowledged {
      #expect(there.contains(key), "\(key) was acknowledged and is not in the index")
      #expect(try await engine.text(key) == "value of \(key)")
    }
    #expect(try await engine.check().map(\.message) == [])
    try await other.close()

    // Without any node a call fails at once, however long the engine would wait for one that is only slow.
    for node in cluster.nodes { node.stop() }
    #expect(await code { _ = try await engine.text("cities/a") } == .unreachable)
    #expect(await code { try await engine.put("cities/a", "b") } == .unreachable)
    try await engine.close()
  }
}
