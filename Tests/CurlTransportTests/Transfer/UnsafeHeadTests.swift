import CacheCore
import FetchVocabulary
import HTTPCaching
import CurlTransport
import TestOrigin
import Testing

/// The head of the response to an unsafe request is reported, whatever becomes of its content: a cache must act on it.
@Suite(.timeLimit(.minutes(30))) struct UnsafeHeadTests {
  private static let whole = TestResponse(
    status: 201, fields: ["Location": "/b"], body: .bytes([UInt8](repeating: 1, count: 80)))
  private static let endings = [
    whole.cut(after: 40), whole.cut(after: 0), whole.chunked(10).cut(after: 40), whole.claiming(length: 90),
  ]

  private func head(_ error: CacheError?) -> HTTPResponseHead? { (error?.cause as? IncompleteResponse)?.response.head }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "MKCOL"], endings.indices)
  func contentThatBreaksOff(method: String, row: Int) async throws {
    for content in [HTTPTransferService.Content.whole(limit: 100), .streamed] {
      let server = try TestServer(script: [Self.endings[row]])
      let request = HTTPRequest(method: method, url: server.url)
      let error = await #expect(throws: CacheError.self) {
        try await transferService(content).transfer(request).gathered(limit: 100, for: request)
      }
      #expect(error?.code == .originUnreachable)
      #expect(head(error)?.status == 201 && head(error)?.fields["location"] == "/b")
    }
  }

  @Test(arguments: [true, false]) func contentThatIsTooLarge(isChunked: Bool) async throws {
    let server = try TestServer(script: [isChunked ? Self.whole.chunked(10) : Self.whole])
    let error = await #expect(throws: CacheError.self) {
      try await transferService(.whole(limit: 79)).transfer(HTTPRequest(method: "POST", url: server.url))
    }
    #expect(error?.code == .invalidAnswer && head(error)?.status == 201)
  }

  @Test func contentThatCannotBeDecoded() async {
    let damaged = HTTPResponse(HTTPResponseHead(status: 200, fields: ["Content-Encoding": "gzip"]), body: [1, 2, 3])
    let service = DecodingTransferService(DamagedTransfer(response: damaged), maxResponseBytes: 100)
    for (method, status) in [("POST", 200), ("GET", nil)] {
      let error = await #expect(throws: CacheError.self) {
        try await service.transfer(HTTPRequest(method: method, url: "http://a.example/"))
      }
      #expect(error?.code == .invalidAnswer && head(error)?.status == status)
    }
  }

  /// What came of a safe request's content is of use only if its length is known.
  @Test func theHeadOfASafeRequestIsNot() async throws {
    let server = try TestServer(script: [Self.whole.chunked(10).cut(after: 40)])
    let error = await #expect(throws: CacheError.self) {
      try await gathered(HTTPRequest(url: server.url))
    }
    #expect(error?.cause == nil)
  }

  private struct DamagedTransfer: DataTransferService {
    let response: HTTPResponse

    func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse { response }
  }
}
