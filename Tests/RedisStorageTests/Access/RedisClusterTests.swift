import EngineAPI
import Testing

@testable import RedisStorage

@Suite("The nodes of a cluster are found, and each has its part")
struct RedisClusterTests {
  @Test(
    "Slots are computed as a server does", arguments: ["123456789", "cachectl:cities/{v1/a}", "", "a{}b", "a{b", "{"])
  func slots(_ name: String) throws {
    let slot = try RedisCluster.shared.get().nodes[0].ask("CLUSTER", "KEYSLOT", name).integer
    #expect(RedisNames(prefix: "cachectl", isCluster: true).slot(of: name).map(Int64.init) == slot)
  }

  @Test("A call for any slot reaches its master, whatever nodes the URL names")
  func everySlot() async throws {
    let cluster = try RedisCluster.shared.get()
    let nodes = try await RedisNodes.open(cluster.url)
    #expect(nodes.isCluster)
    for number in 0..<50 {
      try await nodes.put("slots:\(number)", "\(number)")
      #expect(try await nodes.text("slots:\(number)") == "\(number)")
    }
    nodes.close()
  }

  @Test("Each master is named once, and together they have all slots")
  func masters() async throws {
    let cluster = try RedisCluster.shared.get()
    let nodes = try await RedisNodes.open(cluster.url)
    let masters = try await nodes.masters()
    #expect(masters.map(\.address.description).sorted() == (try cluster.masters().map(\.address.description)).sorted())
    var views: [RedisClusterView] = []
    for master in masters {
      views.append(RedisClusterView(try await master.ask(RedisCommand("CLUSTER", "NODES")).text ?? ""))
    }
    #expect(views.reduce(into: RangeSet<Int>()) { $0.formUnion($1.slots) } == RangeSet(0..<16_384))
    #expect(views.allSatisfy { $0.importers.isEmpty })
    nodes.close()
  }

  @Test("Nodes that announce names are reached by these, also while a slot is migrated and after it")
  func names() async throws {
    let cluster = try RedisCluster(
      replicas: 0, ["--cluster-announce-hostname", "localhost", "--cluster-preferred-endpoint-type", "hostname"])
    let nodes = try await RedisNodes.open("redis://localhost:\(cluster.nodes[0].port)")
    let name = "cities:a"
    let slot = try #require(nodes.names.slot(of: name))
    func ports() async throws -> Set<Int32> {
      let masters = try await nodes.masters()
      #expect(masters.allSatisfy { $0.address.host == "localhost" })
      return Set(masters.map(\.address.port))
    }
    #expect(try await ports() == Set(cluster.nodes.map { Int32($0.port) }))
    try await nodes.put(name, "1")
    let move = try SlotMove(cluster, slot: slot)
    try move.begin()
    #expect(try move.move() == 1)
    #expect(try await nodes.text(name) == "1")
    #expect(nodes.master(of: slot)?.address.port == Int32(move.source.port))
    try move.end()
    #expect(try await nodes.text(name) == "1")
    let target = RedisAddress(host: "localhost", port: Int32(move.target.port))
    #expect(nodes.master(of: slot)?.address == target)
    nodes.close()
  }

  @Test("Connections that broke while they were idle do not hide the nodes that are there")
  func staleConnections() async throws {
    let cluster = try RedisCluster(timeout: 1_000)
    let nodes = try await RedisNodes.open(cluster.url)
    let victim = try #require(try cluster.masters().first)
    let name = try #require(
      (0..<1_000).map { "cities:\($0)" }.first { nodes.master(of: nodes.names.slot(of: $0))?.address == victim.address }
    )
    for node in cluster.nodes { _ = try await nodes.node(at: node.address).connection() }
    for node in cluster.nodes { try node.ask("CLIENT", "KILL", "TYPE", "normal") }
    victim.stop()
    #expect(try await nodes.text(name) == nil)
    nodes.close()
  }

  @Test("The servers at a URL must be of the kind that the URL says")
  func mistakes() async throws {
    let (server, cluster) = (try RedisServer(), try RedisCluster.shared.get())
    func mistake(_ url: String) async -> String? {
      let error = await #expect(throws: CacheError.self) { try await RedisNodes.open(url) }
      return error?.code == .invalidOption ? error?.message : nil
    }
    let several = await mistake("\(server.url),\(server.address)")
    #expect(several?.contains("several addresses are those of a cluster") == true)
    #expect(await mistake("\(cluster.nodes[0].url)/1")?.contains("only the database 0") == true)
    withExtendedLifetime(server) {}
  }
}
