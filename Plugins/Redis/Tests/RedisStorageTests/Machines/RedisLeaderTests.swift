import Foundation
import Testing

@testable import HiredisStorage

/// Processes on two machines ask for the same at the same time, and the one that asks the origin is killed.
@Suite("Who makes a shared request is killed meanwhile", .serialized)
struct RedisLeaderTests {
  /// How the leader is started.
  enum Leader: CaseIterable {
    /// The others see that its process has ended.
    case known
    /// It has processes of its own, as on another machine: the others wait until its lease runs out.
    case distant

    var prefix: [String] {
      self == .known ? [] : ["/usr/bin/unshare", "-r", "--pid", "--fork", "--mount-proc", "--kill-child"]
    }
  }

  @Test(
    "One of the others asks the origin once more, and all of them have its answer",
    arguments: Load.isThorough ? Leader.allCases : [.known])
  func killed(_ leader: Leader) throws {
    let (server, origin) = (try RedisServer(), try HeldOrigin())
    defer { origin.close() }
    let machines = [try Machine(server, origin), try Machine(server, origin)]
    let first = try machines[0].fetchCities(leader.prefix)
    try eventually("the leader asks the origin") { origin.count == 1 ? () : nil }
    let monitor = try server.connection()
    try monitor.send(Array("MONITOR\r\n".utf8))
    let others = try (0..<6).map { try machines[$0 % 2].fetchCities() }
    try untilWaiting(others.count, monitor, origin)

    let start = ContinuousClock.now
    first.signal(SIGKILL)
    #expect(!first.finish().hasSucceeded)
    try eventually("another process leads") { origin.count > 1 ? () : nil }
    let time = start.duration(to: .now)
    origin.release()
    let documents = try others.map { other in
      let (output, hasSucceeded) = other.finish()
      #expect(hasSucceeded, "\(output)")
      return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
    #expect(documents.map { ($0["items"] as? [Any])?.count } == others.map { _ in 1 })
    #expect(
      documents.compactMap { $0["source"] as? String }.sorted() == [
        "cache", "cache", "cache", "cache", "cache", "origin",
      ])
    #expect(origin.count == 2)
    // A lease holds for thirty seconds.
    #expect(leader == .distant || time < .seconds(25))
    Load.report(
      "the leader is \(leader): another process asks the origin \(time) after its end, \(origin.count) requests")
  }

  /// Waits until `count` processes have looked at the lease again and again, each over a connection of its own, and none of
  /// them has asked the origin.
  private func untilWaiting(_ count: Int, _ monitor: RedisConnection, _ origin: HeldOrigin) throws {
    var looks: [String: Int] = [:]
    try eventually("the others wait for the leader's lease") { () -> Void? in
      // Such as: 1339518083.107412 [0 127.0.0.1:60866] "GET" "cachectl:leases/v1/..."
      let words = try monitor.receive().value.text?.split(separator: " ").map(String.init) ?? []
      if words.count > 4, words[4].hasPrefix("\"cachectl:leases/") { looks[words[2], default: 0] += 1 }
      if origin.count > 1 { throw RedisServer.Failure(description: "another process asks the origin") }
      return looks.values.count { $0 >= 3 } >= count ? () : nil
    }
  }
}
