import Foundation
import Synchronization
import TestOrigin
import Testing

/// Many fetches of one key at the same time, from several processes, make one request. One test at a time: hundreds of
/// processes are enough.
@Suite(.serialized) struct SingleFlightTests {
  /// Starts fetches in the background, says so to the server, and waits for them.
  private static let script = """
    for number in $(seq "$COUNT"); do
      "$BINARY" --backend "$ENGINE" --output json fetch cities >"$FOLDER/$NAME-$number.out" 2>&1 ||
        echo "$number: $?" >>"$FOLDER/$NAME.failed" &
    done
    curl --silent --noproxy '*' "$SERVER/started"
    wait
    """

  /// Four shells start so many processes each. The server holds its response back until all have been started.
  @Test(arguments: zip(Contract.persistentEngines, [50, 10, 10]))
  func manyFetchesAreOneRequest(engine: String, count: Int) async throws {
    let scratch = try Scratch()
    let page = TestResponse.json(OriginSettings.page, fields: ["Cache-Control": "max-age=600"])
    let server = try Self.server(page)
    try scratch.configure(OriginSettings.cities("\(server.url)/cities"))
    try scratch.makeFolder("fetches")
    try await Self.fetch(scratch, server, engine, count: count)
    let names = scratch.names(below: "fetches")
    #expect(
      names.count == 4 * count && names.allSatisfy { $0.hasSuffix(".out") },
      "\(names.filter { $0.hasSuffix("failed") })")
    let documents = try names.map { name in
      let output = try scratch.read("fetches/\(name)")
      return try #require(try? JSON(output), "\(String(decoding: output, as: UTF8.self))")
    }
    #expect(documents.allSatisfy { $0["items"] == documents.first?["items"] && $0["stale"] == false })
    #expect(documents.count { $0["source"] == "origin" } == 1)
    #expect(server.count(of: "/cities") == 1)
  }

  /// Four shells start 25 processes each. A late process may make its own request: each is three attempts, with seconds
  /// in between.
  @Test func oneHundredFetchesShareAFailure() async throws {
    let scratch = try Scratch()
    let server = try Self.server(TestResponse.html(503, fields: ["Retry-After": "2"]))
    try scratch.configure(OriginSettings.cities("\(server.url)/cities"))
    try scratch.makeFolder("fetches")
    try await Self.fetch(scratch, server, "sqlite", count: 25)
    let failures = try (1...4).flatMap { number in
      String(decoding: try scratch.read("fetches/\(number).failed"), as: UTF8.self).split(separator: "\n")
    }
    #expect(failures.count == 100 && failures.allSatisfy { $0.hasSuffix(": 69") }, "\(failures)")
    // Each for itself they would make 300.
    #expect((3...60).contains(server.count(of: "/cities")), "\(server.count(of: "/cities")) requests")
  }

  /// Has each of four shells start `count` processes, and waits for all of them.
  private static func fetch(_ scratch: Scratch, _ server: TestServer, _ engine: String, count: Int) async throws {
    let shells = try (1...4).map { number in
      let variables = [
        "BINARY": Binary.path, "ENGINE": engine, "FOLDER": scratch.path("fetches"), "NAME": String(number),
        "SERVER": server.url, "COUNT": String(count),
      ]
      return try RunningProgram("/bin/bash", ["-c", Self.script], in: scratch, environment: variables)
    }
    for shell in shells { #expect(try await shell.end().status == 0) }
  }

  /// A server that opens its own gate: tests that keep all threads of tasks busy must not let the fetches time out.
  private static func server(_ answer: TestResponse) throws -> TestServer {
    let (gate, shells) = (try TestGate(), Counter())
    return try TestServer { request in
      guard request.path == "/started" else { return answer.held(by: gate) }
      if shells.next() == 4 { gate.open() }
      return TestResponse("")
    }
  }
}

/// Counts up from 1.
private final class Counter: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
