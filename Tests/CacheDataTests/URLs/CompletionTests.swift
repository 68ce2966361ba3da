import FetchVocabulary
import Synchronization
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Incomplete responses in the store: the cache requests the missing part, and checks the response.
struct CompletionTests {
  private static let url = "http://a.example/x"
  private static let text = "abcdef"

  /// A server with the content `text`, which supports ranges, and breaks off after `cut` bytes.
  private final class RangeServer: DataTransferService {
    struct Behaviour: Sendable {
      var text = CompletionTests.text
      var tag = "\"1\""
      var control = "max-age=60"
      /// After how many bytes of content to break off the connection.
      var cut: Int?
      /// The response to range requests, instead of the right one.
      var toRanges: HTTP.Response?
    }

    private let state: Mutex<(Behaviour, [HTTP.Fields])>

    init(_ behaviour: Behaviour = Behaviour()) { state = Mutex((behaviour, [])) }

    /// The `Range` fields of the requests so far; empty for a request without one.
    var ranges: [String] { state.withLock { $0.1.map { $0["range"] ?? "" } } }
    var conditions: [String] { state.withLock { $0.1.compactMap { $0["if-range"] } } }

    func change(_ change: @Sendable (inout Behaviour) -> Void) { state.withLock { change(&$0.0) } }

    func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
      let behaviour = state.withLock { state in
        state.1.append(request.fields)
        return state.0
      }
      if request.fields.contains("range"), let answer = behaviour.toRanges { return answer }
      var response = answer(to: request, behaviour)
      guard let cut = behaviour.cut, cut < response.body.count else { return response }
      response.body = Array(response.body.prefix(cut))
      throw CacheError(.originUnreachable, "it broke off", cause: IncompleteResponse(response))
    }

    private func answer(to request: HTTP.Request, _ behaviour: Behaviour) -> HTTP.Response {
      let head = HTTP.ResponseHead(status: 200, fields: ["ETag": behaviour.tag, "Cache-Control": behaviour.control])
      let whole = ContentRange(0..<behaviour.text.utf8.count, of: behaviour.text.utf8.count)
      let isSame = request.fields["if-range"].map { $0 == behaviour.tag } ?? true
      let range = isSame ? request.fields["range"].flatMap { ByteRange($0)?.offsets(in: whole.length) } : nil
      let extent = range.map { ContentRange($0, of: whole.length) } ?? whole
      return HTTP.Response(head.carrying(extent), body: Array(Array(behaviour.text.utf8)[extent.offsets]))
    }
  }

  private let storage = ShelfOfResponses()
  private let server = RangeServer()

  private func get(_ fields: HTTP.Fields = [:], maxContentBytes: Int = .max) async throws -> HTTP.Response {
    let rules = HTTPCacheRules(
      freshness: FreshnessPolicy(timeToLive: .zero, staleIfError: .seconds(300), staleWhileRevalidate: .zero))
    let cache = HTTPCache(
      responses: storage.responses, transfer: server, services: FetchServices(rules: rules, now: { .seconds(1_000) }),
      maxContentBytes: maxContentBytes)
    var responses = cache.responses(to: HTTP.Request(url: Self.url, fields: fields), options: FetchOptions())
      .makeAsyncIterator()
    return try #require(try await responses.next()).value
  }

  private func text(_ response: HTTP.Response) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test func theRestOfAPartIsRequested() async throws {
    #expect(text(try await get(["Range": "bytes=0-1"])) == "ab")
    let whole = try await get()
    #expect(whole.head.status == 200 && text(whole) == "abcdef" && !whole.head.fields.contains("content-range"))
    #expect(whole.head.fields["cache-status"] == "ResponseCache; fwd=partial; fwd-status=206; stored; ttl=60")
    #expect(server.ranges == ["bytes=0-1", "bytes=2-"] && server.conditions == ["\"1\""])
    #expect(try await get().head.fields["cache-status"] == "ResponseCache; hit; ttl=60")
  }

  @Test func aRangeBeyondTheStoredPartIsCompleted() async throws {
    _ = try await get(["Range": "bytes=0-1"])
    let part = try await get(["Range": "bytes=1-3"])
    #expect(part.head.status == 206 && text(part) == "bcd" && part.head.fields["content-range"] == "bytes 1-3/6")
    #expect(text(try await get(["Range": "bytes=0-3"])) == "abcd")
    #expect(server.ranges == ["bytes=0-1", "bytes=2-3"])
  }

  @Test func aBrokenTransferIsContinued() async throws {
    server.change { $0.cut = 2 }
    let error = await #expect(throws: CacheError.self) { try await get() }
    #expect(error?.code == .originUnreachable && !(error?.cause is IncompleteResponse))
    #expect(error?.hint == "the cache kept what arrived, and the next fetch requests only the rest")
    // The rest breaks off too, and its beginning is added to the stored part.
    await #expect(throws: CacheError.self) { try await get() }
    server.change { $0.cut = nil }
    #expect(text(try await get()) == "abcdef")
    #expect(server.ranges == ["", "bytes=2-", "bytes=4-"])
  }

  @Test func aBeginningThatCannotBeKeptIsReported() async throws {
    server.change { $0.cut = 2 }
    storage.failToStore(CacheError(.noSpace, "the disk is full"))
    let error = await #expect(throws: CacheError.self) { try await get() }
    #expect(error?.code == .originUnreachable)
    #expect(error?.message == "it broke off; and the cache could not keep what came: the disk is full")
    #expect(error?.hint == "")
  }

  /// Offline, an incomplete response is not served.
  @Test func aTruncatedResponseIsRefused() async throws {
    server.change { $0.cut = 2 }
    await #expect(throws: CacheError.self) { try await get() }
    #expect(try await get(["Cache-Control": "only-if-cached"]).head.status == 504)
    #expect(text(try await get(["Range": "bytes=0-1"])) == "ab")
  }

  @Test(arguments: ["no-store", "private, no-store"])
  func unstorableResponsesAreNotKeptInPartEither(control: String) async throws {
    server.change { ($0.cut, $0.control) = (2, control) }
    let error = await #expect(throws: CacheError.self) { try await get() }
    #expect(storage.keys.isEmpty && error?.hint == "")
  }

  /// A complete stored response can still be served; the beginning of a newer one cannot.
  @Test func anIncompleteResponseDoesNotReplaceACompleteOne() async throws {
    server.change { $0.control = "max-age=0" }
    _ = try await get()
    server.change { ($0.cut, $0.text, $0.tag) = (2, "ABCDEF", "\"2\"") }
    #expect(text(try await get()) == "abcdef")
    #expect(text(try await get()) == "abcdef")
  }

  @Test func contentThatHasChangedReplacesThePart() async throws {
    _ = try await get(["Range": "bytes=0-1"])
    server.change { ($0.text, $0.tag) = ("ABCDEF", "\"2\"") }
    #expect(text(try await get()) == "ABCDEF")
    #expect(server.ranges == ["bytes=0-1", "bytes=2-"])
    #expect(text(try await get()) == "ABCDEF")
    #expect(storage.keys.count == 1)
  }

  /// Responses that do not continue the stored part: everything is requested.
  @Test(arguments: [
    HTTP.Response(HTTP.ResponseHead(status: 416, fields: ["Content-Range": "bytes */6"])),
    HTTP.Response(HTTP.ResponseHead(status: 304, fields: ["ETag": "\"1\""])),
    HTTP.Response(HTTP.ResponseHead(status: 412)),
    // The rest, with the status of a complete response.
    HTTP.Response(
      HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\"", "Content-Range": "bytes 2-5/6"]),
      body: Array("cdef".utf8)
    ),
    HTTP.Response(HTTP.ResponseHead(status: 203, fields: ["Content-Range": "bytes 2-5/6"]), body: Array("cdef".utf8)),
    HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["Content-Range": "x"]), body: Array("cdef".utf8)),
    HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\""]), body: Array("cdef".utf8)),
    // The rest in another coding.
    HTTP.Response(
      HTTP.ResponseHead(
        status: 206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 2-5/6", "Content-Encoding": "gzip"]),
      body: Array("cdef".utf8)),
    // Joining a response that may not be stored would give the client more than it asked for.
    HTTP.Response(
      HTTP.ResponseHead(
        status: 206, fields: ["Content-Range": "bytes 2-5/6", "ETag": "\"1\"", "Cache-Control": "no-store"]),
      body: Array("cdef".utf8)),
    HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: ["Content-Range": "bytes 2-5/6", "ETag": "\"2\""]),
      body: Array("CDEF".utf8)
    ),
    HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: ["Content-Range": "bytes 3-5/6", "ETag": "\"1\""]), body: Array("def".utf8)
    ),
    HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: ["Content-Range": "bytes 2-5/6", "ETag": "\"1\""]), body: Array("cd".utf8)),
    HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: ["Content-Range": "bytes 2-5/7", "ETag": "\"1\""]),
      body: Array("cdef".utf8)
    ), HTTP.Response(HTTP.ResponseHead(status: 206, fields: ["ETag": "\"1\""]), body: Array("cdef".utf8)),
    HTTP.Response(
      HTTP.ResponseHead(status: 206, fields: ["Content-Range": "bytes 2-5/6", "ETag": "\"1\""]), body: [],
      rest: StreamedContent { nil }),
  ])
  func responsesThatDoNotFitAreFetchedAgain(_ answer: HTTP.Response) async throws {
    _ = try await get(["Range": "bytes=0-1"])
    server.change { $0.toRanges = answer }
    #expect(text(try await get()) == "abcdef")
    #expect(server.ranges == ["bytes=0-1", "bytes=2-", ""])
    #expect(try await get().head.fields["cache-status"] == "ResponseCache; hit; ttl=60")
  }

  @Test func anErrorOfTheOriginIsItsResponse() async throws {
    _ = try await get(["Range": "bytes=0-1"])
    server.change { $0.toRanges = HTTP.Response(HTTP.ResponseHead(status: 503)) }
    #expect(try await get().head.status == 503)
    #expect(server.ranges == ["bytes=0-1", "bytes=2-"])
  }

  /// Content that is too large for the store is not joined from parts.
  @Test func partsAreJoinedUpToTheLimit() async throws {
    _ = try await get(["Range": "bytes=0-1"], maxContentBytes: 5)
    #expect(text(try await get(maxContentBytes: 5)) == "abcdef")
    #expect(server.ranges == ["bytes=0-1", ""])
    storage.removeAll()
    _ = try await get(["Range": "bytes=0-2"], maxContentBytes: 5)
    _ = try await get(["Range": "bytes=3-5"], maxContentBytes: 5)
    #expect(text(try await get(["Range": "bytes=3-5"], maxContentBytes: 5)) == "def")
    #expect(server.ranges.suffix(2) == ["bytes=0-2", "bytes=3-5"])
  }
}
