import Foundation
import Synchronization
import TestOrigin
import Testing

@testable import RedisStorage

@Suite("The program runs on two machines that share a server", .serialized)
struct RedisMachineTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=600"]

  /// A server, its machines, and an origin that holds all responses back until the gate is opened.
  private struct Scene {
    let server: RedisServer
    let machines: [Machine]
    let gate: TestGate
    let origin: TestServer
    private let monitor: RunningProgram

    init() throws {
      server = try RedisServer()
      machines = [try Machine(server), try Machine(server)]
      let gate = try TestGate()
      self.gate = gate
      origin = try TestServer { _ in TestResponse(fields: RedisMachineTests.fresh, "the response").held(by: gate) }
      let monitor = try RunningProgram(["redis-cli", "-p", "\(server.port)", "monitor"])
      self.monitor = monitor
      try eventually("the server is observed") { monitor.output.hasPrefix("OK") ? () : nil }
    }

    func fetch(_ prefix: [String] = [], on machine: Int) throws -> RunningProgram {
      try machines[machine % 2].start(prefix, ["fetch", "url", origin.url + "/page"])
    }

    /// Waits until `count` of `programs` look at the lease of the request again and again, each over a connection of its
    /// own, and one has requested the page.
    func untilWaiting(_ count: Int, of programs: [RunningProgram]) async throws {
      try await until("\(count) processes wait for the lease") {
        if origin.count > 1 { throw RedisServer.Failure(description: "another process requests the page") }
        for program in programs where program.hasEnded {
          throw RedisServer.Failure(description: "a process has ended: \(program.errors)")
        }
        return origin.count == 1 && looksAtTheLease().count { $0 >= 3 } >= count
      }
    }

    /// How often each connection has read the lease.
    private func looksAtTheLease() -> [Int] {
      var looks: [Substring: Int] = [:]
      // Such as: 1339518083.107412 [0 127.0.0.1:60866] "GET" "cachectl:leases/..."
      for line in monitor.output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.count > 4, words[3] == "\"GET\"", words[4].hasPrefix("\"cachectl:leases/") {
          looks[words[2], default: 0] += 1
        }
      }
      return Array(looks.values)
    }
  }

  @Test("Forty processes fetch one URL at once: one request reaches the origin")
  func crowd() async throws {
    let scene = try Scene()
    let start = ContinuousClock.now
    let programs = try (0..<40).map { try scene.fetch(on: $0) }
    try await scene.untilWaiting(39, of: programs)
    scene.gate.open()
    for program in programs {
      #expect(try await program.succeeds() && program.output == "the response", "\(program.errors)")
      #expect(program.errors.isEmpty)
    }
    #expect(scene.origin.count == 1)
    Load.report("40 processes on two machines: \(scene.origin.count) request in \(start.duration(to: .now))")
  }

  /// How the process that makes the request is started.
  enum Leader: CaseIterable {
    /// The others see that it has ended.
    case known
    /// It has separate processes, as on another machine: the others wait until its lease runs out.
    case distant

    var prefix: [String] {
      self == .known ? [] : ["/usr/bin/unshare", "-r", "--pid", "--fork", "--mount-proc", "--kill-child"]
    }
  }

  @Test(
    "The process that makes the request is killed: one of the others makes it once more, and all have its response",
    arguments: Load.isThorough ? Leader.allCases : [.known])
  func killedLeader(_ leader: Leader) async throws {
    let scene = try Scene()
    let first = try scene.fetch(leader.prefix, on: 0)
    try await until("it makes the request") { scene.origin.count == 1 }
    let others = try (0..<6).map { try scene.fetch(on: $0) }
    try await scene.untilWaiting(6, of: others)
    let start = ContinuousClock.now
    first.signal(SIGKILL)
    try await until("another process makes the request") { scene.origin.count == 2 }
    let time = start.duration(to: .now)
    scene.gate.open()
    for other in others {
      #expect(try await other.succeeds() && other.output == "the response", "\(other.errors)")
    }
    #expect(try await first.succeeds() == false)
    #expect(scene.origin.count == 2)
    // A lease holds for thirty seconds.
    #expect(leader == .distant || time < .seconds(25))
    Load.report("the leader is \(leader): another process makes the request \(time) after its end")
  }

  /// The time is that from the end of the command that replaces the entry to the end of the command that reads it, with the
  /// start of the process. `RedisTieredTests` measures a process that stays.
  @Test("An entry that one machine replaces or removes is read again on the other, through its local copy")
  func replaced() async throws {
    let server = try RedisServer()
    let (here, there) = (try Machine(server), try Machine(server))
    let version = Mutex(0)
    let origin = try TestServer { _ in
      TestResponse(
        fields: Self.fresh,
        "version \(version.withLock { version in version += 1; return version })")
    }
    let url = origin.url + "/page"
    func read() async throws -> String { try await here.cachectl("--backend", "tiered", "fetch", "url", url) }
    #expect(try await read() == "version 1")
    var times: [Duration] = []
    for version in 2...5 {
      #expect(try await there.cachectl("fetch", "url", "--refresh", url) == "version \(version)")
      let start = ContinuousClock.now
      #expect(try await read() == "version \(version)")
      times.append(start.duration(to: .now))
      #expect(try await read() == "version \(version)")
    }
    #expect(origin.count == 5, "The reads need no request")
    try await there.cachectl("rm", "--all", "--yes")
    #expect(try await here.start([], ["--backend", "tiered", "fetch", "url", "--offline", url]).succeeds() == false)
    Load.report("a process reads through tiered what another machine has replaced: \(times.sorted()[2])")
  }
}
