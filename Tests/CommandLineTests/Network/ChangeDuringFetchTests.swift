import Foundation
import Synchronization
import TestOrigin
import Testing

/// Commands that change an entry while another command is fetching it. The first response waits until the change is
/// made.
@Suite struct ChangeDuringFetchTests {
  enum Change: CaseIterable, Sendable {
    case removal, removalOfTheURL, removalOfAll, removalByPattern, softening, post, delete

    func arguments(_ url: String) -> [String] {
      switch self {
      case .removal: ["rm", "url/v1/url=\(Self.encoded(url)),variant=any"]
      case .removalOfTheURL: ["rm", url]
      case .removalOfAll: ["rm", "--all", "--yes"]
      case .removalByPattern: ["rm", "--match", "*items*"]
      case .softening: ["rm", "--soft", url]
      case .post: ["fetch", "url", url, "--data", "a=1"]
      case .delete: ["fetch", "url", url, "--method", "DELETE"]
      }
    }

    private static func encoded(_ url: String) -> String {
      url.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~"))) ?? url
    }
  }

  /// A server that numbers its responses to GET and holds the one with the number `held` back.
  private static func server(holding held: Int, _ gate: TestGate) throws -> TestServer {
    let numbers = Numbers()
    return try TestServer { request in
      guard request.method == "GET" else { return TestResponse("") }
      let number = numbers.next()
      let response = TestResponse(fields: ["Cache-Control": "max-age=600"], "\(number)")
      return number == held ? response.held(by: gate) : response
    }
  }

  @Test(arguments: Contract.inTurn(Change.allCases))
  func itIsNeitherStoredNorGivenToLaterCommands(engine: String, change: Change) async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let server = try Self.server(holding: 1, gate)
    let url = "\(server.url)/items"
    let fetch = ["--backend", engine, "fetch", "url", url]
    let first = try RunningProgram(Binary.path, fetch, in: scratch)
    await server.received(1)
    // An entry that is not in the store yet cannot be removed from it.
    _ = try await scratch.cachectl(["--backend", engine] + change.arguments(url))
    let second = try await scratch.cachectl(fetch)
    expectSuccess(second)
    #expect(second.text == "2")
    gate.open()
    #expect(try await first.end().text == "1")
    #expect(try await scratch.cachectl(fetch + ["--offline"]).text == "2")
    #expect(server.count(of: "/items", method: "GET") == 2)
  }

  /// The response that was arriving is not stored. So the next command requests its own.
  @Test func aRevalidationIsNotStored() async throws {
    let engine = "plist"
    let (scratch, gate) = (try Scratch(), try TestGate())
    let server = try Self.server(holding: 2, gate)
    let fetch = ["--backend", engine, "fetch", "url", "\(server.url)/items"]
    expectSuccess(try await scratch.cachectl(fetch))
    let second = try RunningProgram(Binary.path, fetch + ["--refresh"], in: scratch)
    await server.received(2)
    expectSuccess(try await scratch.cachectl(["--backend", engine, "rm", "--soft", "\(server.url)/items"]))
    gate.open()
    #expect(try await second.end().text == "2")
    #expect(try await scratch.cachectl(fetch).text == "3")
  }

  /// The status decides what an unsafe request invalidates, even if its content breaks off.
  @Test(arguments: Contract.persistentEngines, [true, false])
  func aChangeWhoseContentBreaksOffInvalidates(engine: String, isChunked: Bool) async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      if request.method == "GET" { return TestResponse(fields: ["Cache-Control": "max-age=600"], "old") }
      let response = TestResponse(body: .bytes([UInt8](repeating: 1, count: 100)))
      return (isChunked ? response.chunked(10) : response).cut(after: 50)
    }
    let fetch = ["--backend", engine, "fetch", "url", "\(server.url)/items"]
    expectSuccess(try await scratch.cachectl(fetch))
    #expect(try await scratch.cachectl(fetch + ["--data", "a=1"]).status == 69)
    #expect(try await scratch.cachectl(fetch + ["--offline"]).status == 66)
    expectSuccess(try await scratch.cachectl(fetch))
    #expect(server.count(of: "/items", method: "GET") == 2)
  }
}

/// Counts up from 1.
private final class Numbers: Sendable {
  private let last = Mutex(0)

  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
