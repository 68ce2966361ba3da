import Foundation
import TestOrigin
import Testing

/// If a response breaks off, the next fetch continues it, provided that the server shows that it is unchanged.
@Suite struct InterruptedAnswerTests {
  private static let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 3) }

  /// A server that breaks off after 60,000 bytes, and supports ranges of the form `bytes=N-` afterwards.
  private static func server(tag: String) throws -> TestServer {
    try TestServer { request in
      let fields: TestFields = ["ETag": tag, "Cache-Control": "max-age=600"]
      guard let range = request.fields["Range"] else {
        return TestResponse(fields: fields, body: .bytes(content)).cut(after: 60_000)
      }
      guard request.fields["If-Range"] == tag, let first = Int(range.dropFirst(6).dropLast()) else {
        return TestResponse(status: 500)
      }
      let place: TestFields = ["Content-Range": "bytes \(first)-\(content.count - 1)/\(content.count)"]
      return TestResponse(status: 206, fields: fields.replacing(with: place), body: .bytes(Array(content[first...])))
    }
  }

  @Test func theRestIsFetchedByTheNextProcess() async throws {
    let engine = "sqlite"
    let (scratch, server) = (try Scratch(), try Self.server(tag: "\"1\""))
    let command = ["--backend", engine, "fetch", "url", server.url]
    let first = try await scratch.cachectl(command)
    #expect(first.status == 69 && first.output == Data(Self.content.prefix(60_000)), "\(first.errors)")
    let second = try await scratch.cachectl(command)
    expectSuccess(second)
    #expect(second.output == Data(Self.content))
    #expect(server.requests.map { $0.fields["Range"] } == [nil, "bytes=60000-"])
    #expect(try await scratch.cachectl(command + ["--offline"]).output == Data(Self.content))
  }

  /// A weak tag does not show that the bytes are the same.
  @Test func withoutAStrongValidatorAllOfItIsFetchedAgain() async throws {
    let (scratch, server) = (try Scratch(), try Self.server(tag: "W/\"1\""))
    for _ in 1...2 { #expect(try await scratch.cachectl("fetch", "url", server.url).status == 69) }
    #expect(server.requests.map { $0.fields["Range"] } == [nil, nil])
  }
}
