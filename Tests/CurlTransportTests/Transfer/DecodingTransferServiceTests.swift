import CacheCore
import FetchVocabulary
import HTTPCaching
import CurlTransport
import Synchronization
import TestOrigin
import Testing

/// Compression that is asked for and undone.
struct DecodingTransferServiceTests {
  private static let text = Array("hello, hello".utf8)
  private static let gzip = Gzip.compress(text)
  private static let zlib: [UInt8] = [
    120, 156, 203, 72, 205, 201, 201, 215, 81, 200, 0, 81, 0, 28, 218, 4, 117,
  ]
  /// A frame with one block that is not compressed (RFC 8878, section 3.1.1).
  private static let zstd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 12, 97, 0, 0] + text
  /// One block of 128 KiB that are all the same, in a window of 128 KiB and in one of 16 MiB.
  private static let longZstd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x38, 3, 0, 0x10, 97]
  private static let wideZstd: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x70, 3, 0, 0x10, 97]
  private static let raw: [UInt8] = [203, 72, 205, 201, 201, 215, 81, 200, 0, 81, 0]

  /// A response, and what becomes of its content and its coding.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let coding: String
    let bytes: [UInt8]
    var content = text
    var rest: String?

    static let all = [
      Case(testDescription: "gzip", coding: "gzip", bytes: gzip),
      Case(testDescription: "gzip by its old name", coding: "X-GZip", bytes: gzip),
      Case(testDescription: "two members", coding: "gzip", bytes: gzip + gzip, content: text + text),
      Case(testDescription: "bytes after the end", coding: "gzip", bytes: gzip + [0, 0, 0]),
      Case(testDescription: "zlib", coding: "deflate", bytes: zlib),
      Case(testDescription: "deflate without zlib's header", coding: "deflate", bytes: raw),
      Case(testDescription: "zstd", coding: "zstd", bytes: zstd),
      Case(testDescription: "two frames", coding: "zstd", bytes: zstd + zstd, content: text + text),
      Case(testDescription: "zstd in gzip", coding: "zstd, gzip", bytes: Gzip.compress(zstd)),
      Case(testDescription: "twice", coding: "gzip, gzip", bytes: Gzip.compress(gzip)),
      Case(testDescription: "below another one", coding: "br, gzip", bytes: gzip, rest: "br"),
      Case(
        testDescription: "above another one", coding: "gzip, br", bytes: [1, 2], content: [1, 2], rest: "gzip, br"),
      Case(testDescription: "identity", coding: "identity", bytes: text, rest: "identity"),
    ]
  }

  @Test(arguments: Case.all)
  func codings(_ example: Case) async throws {
    let head = HTTPResponseHead(status: 200, fields: ["ETag": "\"1\"", "Content-Encoding": example.coding])
    let base = FixedTransfer(HTTPResponse(head, body: example.bytes))
    let response = try await service(base).transfer(HTTPRequest(url: "http://example.com/"))
    #expect(response.body == example.content)
    #expect(response.head.fields["Content-Encoding"] == example.rest)
    let length = example.rest == example.coding ? nil : String(example.content.count)
    #expect(response.head.fields["Content-Length"] == length)
    #expect(response.head.fields["ETag"] == "\"1\"")
    #expect(base.requests.first?.fields["Accept-Encoding"] == "gzip, deflate, zstd")
  }

  @Test(arguments: [
    ("gzip", Array(gzip.dropLast(9)), "not compressed"), ("gzip", text, "not compressed"),
    ("deflate", text, "not compressed"), ("zstd", Array(zstd.dropLast()), "not compressed"),
    ("zstd", zstd + text, "not compressed"), ("zstd", wideZstd, "not compressed"),
    ("zstd", longZstd, "larger than 100"),
    ("gzip", Gzip.compress(Array(repeating: 1, count: 101)), "larger than 100"),
  ])
  func contentThatCannotBeDecoded(_ coding: String, _ bytes: [UInt8], _ words: String) async {
    let head = HTTPResponseHead(status: 200, fields: ["Content-Encoding": coding])
    let error = await #expect(throws: CacheError.self) {
      try await service(FixedTransfer(HTTPResponse(head, body: bytes))).transfer(
        HTTPRequest(url: "http://a:hidden@example.com/?hidden"))
    }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message.contains(words) == true && error?.message.contains("example.com") == true)
    #expect(!String(describing: error).contains("hidden"))
  }

  @Test func partsStayAsTheyAre() async throws {
    let head = HTTPResponseHead(status: 206, fields: ["Content-Encoding": "gzip"])
    let base = FixedTransfer(HTTPResponse(head, body: Self.gzip))
    let request = HTTPRequest(url: "http://example.com/", fields: ["Range": "bytes=0-1"])
    #expect(try await service(base).transfer(request) == HTTPResponse(head, body: Self.gzip))
    #expect(base.requests == [request])
  }

  @Test func whatTheCallerAsksForIsUndoneToo() async throws {
    let head = HTTPResponseHead(status: 200, fields: ["Content-Encoding": "gzip"])
    let base = FixedTransfer(HTTPResponse(head, body: Self.gzip))
    let request = HTTPRequest(url: "http://example.com/", fields: ["accept-encoding": "gzip;q=1"])
    #expect(try await service(base).transfer(request).body == Self.text)
    #expect(base.requests == [request])
  }

  @Test func responsesWithoutContentStay() async throws {
    let response = HTTPResponse(HTTPResponseHead(status: 304, fields: ["Content-Encoding": "gzip"]))
    #expect(try await service(FixedTransfer(response)).transfer(HTTPRequest(url: "http://example.com/")) == response)
  }

  private func service(_ base: FixedTransfer) -> DecodingTransferService {
    DecodingTransferService(base, maxResponseBytes: 100)
  }
}

/// Answers in one way, and remembers what it was asked.
private final class FixedTransfer: DataTransferService {
  private let response: HTTPResponse
  private let received = Mutex<[HTTPRequest]>([])

  init(_ response: HTTPResponse) { self.response = response }

  var requests: [HTTPRequest] { received.withLock(\.self) }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    received.withLock { $0.append(request) }
    return response
  }
}
