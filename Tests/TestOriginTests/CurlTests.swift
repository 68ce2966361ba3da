import ChildProcesses
import Foundation
import TestOrigin
import Testing

/// A client that others wrote understands the server.
@Suite struct CurlTests {
  /// Runs curl to its end.
  private static func curl(_ arguments: String...) async throws -> (status: Int32, output: String) {
    let folder = NSTemporaryDirectory() + "curl-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let process = try Spawning.start(
      ["curl", "-sS", "--noproxy", "*"] + arguments, variables: ["PATH=\(path)"], folder: folder,
      output: "\(folder)/output", errors: "\(folder)/errors")
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: Spawning.wait(for: process)) }
    }
    return (status, try String(contentsOfFile: "\(folder)/output", encoding: .utf8))
  }

  @Test(arguments: [
    (TestResponse("hello"), 0, "hello"), (TestResponse("hello").chunked(2), 0, "hello"),
    (TestResponse("hello").gzipped(), 0, "hello"), (TestResponse("hello").gzipped().chunked(7), 0, "hello"),
    (TestResponse("hello").untilClose(), 0, "hello"), (TestResponse("hello").cut(after: 2), 18, "he"),
    (TestResponse("hello").chunked(2).cut(after: 2), 18, "he"), (.hangUp, 52, ""), (.raw("garbage\r\n"), 1, ""),
  ])
  func curlSeesWhatWasMeant(response: TestResponse, status: Int32, output: String) async throws {
    let server = try TestServer(script: [response])
    let run = try await Self.curl("--compressed", server.url)
    #expect(run.status == status)
    #expect(run.output == output)
  }

  @Test func redirectsLeadOnOrRoundInCircles() async throws {
    let server = try TestServer { request in
      request.path == "/end"
        ? TestResponse("end") : .redirect(to: request.path == "/a" ? "/b" : "/\(request.path == "/b" ? "end" : "loop")")
    }
    #expect(try await Self.curl("-L", "\(server.url)/a").output == "end")
    #expect(server.requests.map(\.path) == ["/a", "/b", "/end"])
    #expect(try await Self.curl("-L", "--max-redirs", "5", "\(server.url)/loop").status == 47)
    #expect(server.count(of: "/loop") == 6)
  }

  @Test func largeContentIsAskedForBeforeItIsSent() async throws {
    let server = try TestServer { TestResponse(String($0.body.count)) }
    let data = String(repeating: "x", count: 100_000)
    #expect(try await Self.curl("-H", "Expect: 100-continue", "--data", data, server.url).output == "100000")
  }

  @Test func noClientTrustsTheCertificate() async throws {
    let server = try SelfSignedServer()
    #expect(try await Self.curl(server.url).status == 60)
    let answer = try await Self.curl("-k", server.url)
    #expect(answer.status == 0 && answer.output.contains("s_server"))
  }
}
