import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A master of a cluster is lost, and has no replica")
struct RedisLostNodeTests {
  /// A cluster with a text under each of `names`, which has just lost the master of the first one.
  private struct Loss {
    let cluster: RedisCluster
    let nodes: RedisNodes
    let names: [String]
    let lost: Set<String>
    let server: RedisServer
  }

  /// - Parameter silently: whether the lost master keeps its connections, but does not reply.
  private func lose(silently: Bool = false) async throws -> Loss {
    let cluster = try RedisCluster(replicas: 0)
    let nodes = try await patiently { try await RedisNodes.open(cluster.url, ["timeout": .integer(2_000)]) }
    let names = (0..<60).map { "cities:\($0)" }
    for name in names { try await patiently { try await nodes.put(name, "1") } }
    func owner(_ name: String) -> RedisAddress? { nodes.master(of: nodes.names.slot(of: name))?.address }
    let server = try #require(cluster.nodes.first { $0.address == owner(names[0]) })
    if silently { server.pause() } else { server.stop() }
    return Loss(
      cluster: cluster, nodes: nodes, names: names, lost: Set(names.filter { owner($0) == server.address }),
      server: server)
  }

  @Test(
    "Entries on the other nodes are read and written, even by a process that opens the store then; only one call waits",
    arguments: [false, true])
  func othersContinue(silently: Bool) async throws {
    let loss = try await lose(silently: silently)
    defer { loss.server.resume() }
    for name in loss.names {
      if loss.lost.contains(name) {
        #expect(await code { _ = try await loss.nodes.text(name) } == .unreachable)
        #expect(await code { try await loss.nodes.put(name, "2") } == .unreachable)
      } else {
        try await patiently { try await loss.nodes.put(name, "2") }
        #expect(try await patiently { try await loss.nodes.text(name) } == "2")
      }
    }
    #expect(loss.nodes.node(at: loss.server.address).isDown)
    let late = try await patiently { try await RedisNodes.open(loss.cluster.url, ["timeout": .integer(2_000)]) }
    for name in loss.names where !loss.lost.contains(name) {
      #expect(try await patiently { try await late.text(name) } == "2")
    }
    late.close()
    loss.nodes.close()
  }

  @Test("Calls that wait for the lost node keep nothing from the others", arguments: [false, true])
  func sideBySide(silently: Bool) async throws {
    let loss = try await lose(silently: silently)
    defer { loss.server.resume() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in loss.lost {
        group.addTask { #expect(await code { _ = try await loss.nodes.text(name) } == .unreachable) }
      }
      for name in loss.names where !loss.lost.contains(name) {
        group.addTask {
          let text = try await patiently { try await loss.nodes.text(name) }
          #expect(text == "1")
        }
      }
      try await group.waitForAll()
    }
    loss.nodes.close()
  }

  @Test("Calls that need all masters fail and name the lost one, until it is back", arguments: [false, true])
  func masters(silently: Bool) async throws {
    let loss = try await lose(silently: silently)
    let plugin = RedisPlugin()
    let url = "redis://" + loss.cluster.nodes.map(\.address.description).joined(separator: ",")
    func inspection() throws -> EngineConfiguration { try configuration(url, ["timeout": .integer(2_000)]) }
    let error = await #expect(throws: CacheError.self) { try await plugin.inspect(inspection()) }
    #expect(
      error?.code == .unreachable && error?.message.contains("\(loss.server.address)") == true,
      "\(error?.message ?? "")")
    if silently { loss.server.resume() } else { try loss.server.start() }
    try await until("all masters answer") { await code { _ = try await plugin.inspect(inspection()) } == nil }
    loss.nodes.close()
  }

  @Test("When it is back, its part is there again")
  func back() async throws {
    let loss = try await lose()
    let name = try #require(loss.lost.first)
    #expect(await code { _ = try await loss.nodes.text(name) } == .unreachable)
    try loss.server.start()
    try await until("the node is asked again") { await code { _ = try await loss.nodes.text(name) } == nil }
    loss.nodes.close()
  }

  @Test("A silent node keeps no store from being opened, although the URL names it first")
  func opening() async throws {
    let cluster = try RedisCluster(replicas: 0)
    cluster.nodes[0].pause()
    defer { cluster.nodes[0].resume() }
    let url = "\(cluster.nodes[0].url),\(cluster.nodes[1].address)"
    let nodes = try await patiently { try await RedisNodes.open(url, ["timeout": .integer(1_000)]) }
    let name = try #require(
      (0..<100).map { "cities:\($0)" }.first {
        nodes.master(of: nodes.names.slot(of: $0))?.address == cluster.nodes[2].address
      })
    try await patiently { try await nodes.put(name, "1") }
    #expect(try await patiently { try await nodes.text(name) } == "1")
    nodes.close()
  }

  @Test("After one call has waited for a cluster that is down, the next ones do not wait")
  func refused() async throws {
    let server = try RedisServer(["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"])
    // As long as a slot has no node, the cluster is down.
    #expect(try server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "15999").error == nil)
    let nodes = try await RedisNodes.open(server.url, ["timeout": .integer(200)])
    let name = try #require((0..<100).map { "cities:\($0)" }.first { (nodes.names.slot(of: $0) ?? .max) < 16_000 })
    let slot = nodes.names.slot(of: name)
    #expect(await code { _ = try await patiently { try await nodes.text(name) } } == .busy)
    #expect(nodes.failsAtOnce(slot, hasWaited: false))
    nodes.close()
    let patient = try await RedisNodes.open(server.url, ["timeout": .integer(600_000)])
    #expect(!patient.failsAtOnce(slot, hasWaited: false) && patient.failsAtOnce(slot, hasWaited: true))
    #expect(await code { _ = try await patient.text(name) } == .busy)
    #expect(await code { try await patient.put(name, "1") } == .busy)
    patient.close()
  }
}
