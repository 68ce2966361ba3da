import EngineAPI
import Synchronization
import Testing

@testable import RedisStorage

/// The results of the writers so far.
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

  func acknowledge(_ name: String) { state.withLock { $0.acknowledged.append(name) } }
  func note(_ error: CacheError) { state.withLock { $0.errors.append(error) } }
  func end() { state.withLock { $0.isOver = true } }
}

@Suite("A master of a cluster is lost, and a replica takes its place", .serialized)
struct RedisFailoverTests {
  /// Writes under new names through `nodes` until the log is ended. A write counts once a replica has it.
  private func write(_ nodes: RedisNodes, _ writer: String, _ log: WriteLog) async throws {
    var number = 0
    while !log.isOver {
      let name = "cities:\(writer):\(number)"
      number += 1
      do throws(CacheError) {
        // A replica that was promoted has no replica. So these writes wait all this time, and do not count.
        let commands = [RedisCommand("SET", name, "value of \(name)"), RedisCommand("WAIT", "1", "50")]
        let replies = try await nodes.send(commands, slot: nodes.names.slot(of: name), isRead: false)
        if replies[0].text == "OK", replies[1].integer == 1 { log.acknowledge(name) }
      } catch {
        log.note(error)
      }
    }
  }

  @Test(
    "Every acknowledged write is there after a master was killed, and no error is taken for success",
    .timeLimit(.minutes(9)))
  func killedMaster() async throws {
    let cluster = try RedisCluster(timeout: 1_000)
    // No replica replaces a master that only waits for the processor, nor the victim before the impatient writer has
    // noticed its loss.
    for node in cluster.nodes { try node.ask("CONFIG", "SET", "cluster-replica-no-failover", "yes") }
    let (patient, impatient) = (WriteLog(), WriteLog())
    let nodes = try await RedisNodes.open(cluster.url)
    let other = try await patiently { try await RedisNodes.open(cluster.url, ["timeout": .integer(1_000)]) }
    let victim = try #require(try cluster.masters().first)
    let slot = try #require(try cluster.firstSlot(of: victim))
    let witness = try #require(try cluster.masters().last)
    let successor = try #require(try cluster.replica(of: victim))

    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 { group.addTask { try await write(nodes, "patient\(number)", patient) } }
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

    // Only changes that were in progress when the master was killed can fail there. Their errors say that they may have
    // been made.
    #expect(patient.errors.count <= 3, "\(patient.errors.map(\.description))")
    for error in patient.errors {
      #expect(error.code == .unreachable && error.message.contains("is not known"), "\(error.description)")
    }
    for error in impatient.errors { #expect([.unreachable, .busy].contains(error.code), "\(error.description)") }
    for name in patient.acknowledged + impatient.acknowledged {
      #expect(try await nodes.text(name) == "value of \(name)", "\(name) was acknowledged")
    }
    other.close()

    // Without any node a call fails at once, however long it would wait for one that is only slow.
    for node in cluster.nodes { node.stop() }
    #expect(await code { _ = try await nodes.text("cities:a") } == .unreachable)
    #expect(await code { try await nodes.put("cities:a", "b") } == .unreachable)
    nodes.close()
  }
}
