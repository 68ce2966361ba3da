import CacheCore
import CurlTransport
import FetchVocabulary
import HTTPCaching
import Synchronization
import TestOrigin
import Testing

/// Compression that the service requests and decodes.
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

  /// A response, and the result for its content and its coding.
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

  @Test(arguments: Case.all) func codings(_ example: Case) async throws {
    let head = HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\"", "Content-Encoding": example.coding])
    let base = FixedTransfer(HTTP.Response(head, body: example.bytes))
    let response = try await service(base).transfer(HTTP.Request(url: "http://example.com/"))
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
    ("zstd", longZstd, "larger than 100"), ("gzip", Gzip.compress(Array(repeating: 1, count: 101)), "larger than 100"),
  ])
  func contentThatCannotBeDecoded(_ coding: String, _ bytes: [UInt8], _ words: String) async {
    let head = HTTP.ResponseHead(status: 200, fields: ["Content-Encoding": coding])
    let error = await #expect(throws: CacheError.self) {
      try await service(FixedTransfer(HTTP.Response(head, body: bytes))).transfer(
        HTTP.Request(url: "http://a:hidden@example.com/?hidden"))
    }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message.contains(words) == true && error?.message.contains("example.com") == true)
    #expect(!String(describing: error).contains("hidden"))
  }

  @Test func partsAreNotChanged() async throws {
    let head = HTTP.ResponseHead(status: 206, fields: ["Content-Encoding": "gzip"])
    let base = FixedTransfer(HTTP.Response(head, body: Self.gzip))
    let request = HTTP.Request(url: "http://example.com/", fields: ["Range": "bytes=0-1"])
    #expect(try await service(base).transfer(request) == HTTP.Response(head, body: Self.gzip))
    #expect(base.requests == [request])
  }

  @Test func aCodingThatTheCallerAcceptsIsUndoneToo() async throws {
    let head = HTTP.ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"])
    let base = FixedTransfer(HTTP.Response(head, body: Self.gzip))
    let request = HTTP.Request(url: "http://example.com/", fields: ["accept-encoding": "gzip;q=1"])
    #expect(try await service(base).transfer(request).body == Self.text)
    #expect(base.requests == [request])
  }

  @Test func responsesWithoutContentStay() async throws {
    let response = HTTP.Response(HTTP.ResponseHead(status: 304, fields: ["Content-Encoding": "gzip"]))
    #expect(try await service(FixedTransfer(response)).transfer(HTTP.Request(url: "http://example.com/")) == response)
  }

  private func service(_ base: FixedTransfer) -> DecodingTransferService {
    DecodingTransferService(base, maxResponseBytes: 100)
  }
}

/// Gives one response, and records the requests.
private final class FixedTransfer: DataTransferService {
  private let response: HTTP.Response
  private let received = Mutex<[HTTP.Request]>([])

  init(_ response: HTTP.Response) { self.response = response }

  var requests: [HTTP.Request] { received.withLock(\.self) }

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    received.withLock { $0.append(request) }
    return response
  }
}

/// Compression that is undone behind the cache, also of content that is still coming in.
struct DecodingResponseSourceTests {
  private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
  private static let gzip = Gzip.compress(content)

  @Test(arguments: [1, 2, 7, 1_000, 1 << 20], [0, 1, 1_000, 1 << 20])
  func contentIsDecodedAsItComes(pieceSize: Int, held: Int) async throws {
    let answer = Self.answer(["content-encoding": "gzip"], held: held, pieceSize: pieceSize)
    let decoded = try #require(try await Self.decoded(answer))
    let (body, rest) = try await Self.whole(decoded)
    #expect(body + rest == Self.content)
    // A body that is still arriving is passed on while it is decoded.
    #expect(body.isEmpty && decoded.head.fields == answer.head.fields)
  }

  /// The first piece is decoded before the second one arrives.
  @Test func aPieceIsDecodedWhenItArrives() async throws {
    let gzip = Gzip.compress(Array("data: 1\n\n".utf8))
    let later = AsyncStream.makeStream(of: [UInt8].self)
    let isFirst = Mutex(true)
    let rest = StreamedContent { () async throws(CacheError) in
      if isFirst.withLock({ isFirst in
        defer { isFirst = false }
        return isFirst
      }) {
        return gzip
      }
      for await piece in later.stream { return piece }
      return nil
    }
    let answer = HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"]), rest: rest)
    let decoded = try #require(try await Self.decoded(answer)?.rest)
    #expect(try await decoded.next() == Array("data: 1\n\n".utf8))
    later.continuation.yield(Gzip.compress(Array("data: 2\n\n".utf8)))
    later.continuation.finish()
    #expect(try await decoded.next() == Array("data: 2\n\n".utf8))
    #expect(try await decoded.next() == nil)
  }

  @Test func shortContentIsHeldCompletely() async throws {
    let head = HTTP.ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"])
    let short = HTTP.Response(head, body: Gzip.compress([1, 2, 3]))
    let decoded = try await Self.decoded(short)
    #expect(decoded?.body == [1, 2, 3] && decoded?.rest == nil)
  }

  /// Interim responses and trailers stay with the content.
  @Test(arguments: [0, 10, 1 << 20]) func interimResponsesAndTrailersStay(held: Int) async throws {
    var answer = Self.answer(["Content-Encoding": "gzip"], held: held, pieceSize: 1_000)
    let (hint, sum) = (HTTP.ResponseHead(status: 103), ["Sum": "1"] as HTTP.Fields)
    answer.interim = [hint]
    if let rest = answer.rest {
      answer.rest = StreamedContent(trailers: { sum }) { () async throws(CacheError) in try await rest.next() }
    } else {
      answer.trailers = sum
    }
    let decoded = try #require(try await Self.decoded(answer))
    #expect(decoded.interim == [hint])
    _ = try await Self.whole(decoded)
    #expect(decoded.rest?.trailers ?? decoded.trailers == sum)
  }

  @Test func contentThatBreaksOffIsAFailure() async throws {
    let answer = Self.answer(["Content-Encoding": "gzip"], held: 10, pieceSize: 1_000, count: Self.gzip.count - 5)
    let error = await #expect(throws: CacheError.self) {
      guard let decoded = try await Self.decoded(answer) else { return }
      _ = try await Self.whole(decoded)
    }
    #expect(error?.code == .invalidAnswer)
  }

  @Test(
    arguments: [
      ([:], "gzip, deflate, zstd", true), (["accept-encoding": "gzip"], "gzip", true),
      (["Range": "bytes=0-1"], nil, false),
    ] as [(HTTP.Fields, String?, Bool)])
  func acceptedEncodingsAreAddedToTheRequest(_ fields: HTTP.Fields, accepted: String?, isDecoded: Bool) async throws {
    let asked = Mutex<[HTTP.Request]>([])
    let answer = Self.answer(["Content-Encoding": "gzip"], held: Self.gzip.count, pieceSize: 1)
    let decoded = try #require(
      try await Self.decoded(answer, fields) { request in asked.withLock { $0.append(request) } })
    #expect(asked.withLock { $0 }.first?.fields["accept-encoding"] == accepted)
    #expect((try await Self.whole(decoded).body == Self.gzip) == !isDecoded)
  }

  @Test(arguments: [["Content-Encoding": "identity"], [:]] as [HTTP.Fields])
  func contentWithoutACodingStays(fields: HTTP.Fields) async throws {
    let answer = Self.answer(fields, held: 10, pieceSize: 10)
    #expect(try await Self.decoded(answer) == answer)
  }

  @Test(arguments: ["br", "br, gzip", "gzip, gzip, gzip, gzip, gzip"])
  func anUnknownCodingIsAFailure(coding: String) async {
    let answer = Self.answer(["Content-Encoding": coding], held: 10, pieceSize: 10)
    let error = await #expect(throws: CacheError.self) { try await Self.decoded(answer) }
    #expect(error?.code == .invalidAnswer && error?.message.contains("coded as") == true)
  }

  /// If the cache cannot decode the content, it requests it from the origin once more, unless it has just done so or
  /// must not.
  @Test(
    arguments: [
      (FetchPolicy.cacheFirst, [("cache", "damaged", nil)], [("origin", "sound", nil)], "sound", 2),
      (.cacheFirst, [("cache", "unknown", nil)], [("origin", "sound", nil)], "sound", 2),
      (.cacheFirst, [("cache", "damaged", nil)], [("origin", "damaged", nil)], nil, 2),
      (.cacheFirst, [("origin", "damaged", nil)], [("origin", "sound", nil)], nil, 1),
      (.cacheFirst, [("cache", "damaged", .originUnreachable)], [("origin", "sound", nil)], nil, 1),
      (.cacheFirst, [("cache", "damaged", .damaged)], [("origin", "sound", nil)], "sound", 2),
      (.cacheOnly, [("cache", "damaged", nil)], [("origin", "sound", nil)], nil, 1),
      (.cachedThenNetwork, [("cache", "damaged", nil), ("origin", "sound", nil)], [], "sound", 1),
    ] as [(FetchPolicy, [KeptAnswers.Kind], [KeptAnswers.Kind], String?, Int)])
  fileprivate func damagedEntriesAreFetchedAgain(
    _ policy: FetchPolicy, _ first: [KeptAnswers.Kind], _ second: [KeptAnswers.Kind], _ expected: String?, _ count: Int
  ) async throws {
    for size in [10, 200_000] {
      let base = KeptAnswers([first, second], content: Array(Self.content.prefix(size)))
      let source = DecodingResponseSource(base, limit: 1_000)
      var (found, error) = ([[UInt8]](), CacheError?.none)
      do throws(CacheError) {
        var answers = source.followedResponses(
          to: HTTP.Request(url: "http://a/"), options: FetchOptions(policy: policy), maxRedirects: 5
        ).makeAsyncIterator()
        while let snapshot = try await answers.next() {
          var content = snapshot.value.response.body
          while let piece = try await snapshot.value.response.rest?.next() { content += piece }
          found.append(content)
        }
      } catch let failure { error = failure }
      #expect(found == (expected == nil ? [] : [Array(Self.content.prefix(size))]))
      #expect(error?.code == (expected == nil ? .invalidAnswer : nil))
      #expect(base.policies == Array([policy, .networkOnly].prefix(count)))
    }
  }

  /// A response with `held` of the first `count` compressed bytes in memory, whose rest comes in pieces.
  private static func answer(_ fields: HTTP.Fields, held: Int, pieceSize: Int, count: Int = gzip.count) -> HTTP.Response
  {
    let left = Mutex(gzip[..<count].dropFirst(held))
    let rest = StreamedContent { () throws(CacheError) in
      left.withLock { left in
        defer { left = left.dropFirst(pieceSize) }
        return left.isEmpty ? nil : Array(left.prefix(pieceSize))
      }
    }
    return HTTP.Response(
      HTTP.ResponseHead(status: 200, fields: fields), body: Array(gzip[..<count].prefix(held)),
      rest: held < count ? rest : nil)
  }

  private static func decoded(
    _ answer: HTTP.Response, _ fields: HTTP.Fields = [:], asked: @escaping @Sendable (HTTP.Request) -> Void = { _ in }
  ) async throws -> HTTP.Response? {
    let source = DecodingResponseSource(FixedAnswer(answer: answer, asked: asked), limit: 1_000)
    let request = HTTP.Request(url: "http://a/", fields: fields)
    for try await snapshot in source.followedResponses(to: request, options: FetchOptions(), maxRedirects: 5) {
      return snapshot.value.response
    }
    return nil
  }

  private static func whole(_ answer: HTTP.Response) async throws -> (body: [UInt8], rest: [UInt8]) {
    var rest: [UInt8] = []
    while let piece = try await answer.rest?.next() { rest += piece }
    return (answer.body, rest)
  }
}

private struct FixedAnswer: HTTPResponseSource {
  let answer: HTTP.Response
  let asked: @Sendable (HTTP.Request) -> Void

  func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int
  ) -> Snapshots<LocatedResponse> {
    asked(request)
    let answer = LocatedResponse(url: request.url, response: answer)
    let entry = EntryFacts(key: "k", storedAt: .zero, freshUntil: .zero, now: .zero)
    return Snapshots(explain: { () throws(CacheError) in throw .cancelled }) { () throws(CacheError) in
      Snapshots.Step(Snapshot(value: answer, source: .origin, entry: entry))
    }
  }
}

/// Gives the responses of a table, one row for each request.
private final class KeptAnswers: HTTPResponseSource {
  /// The source of a response, its content, and its warning.
  fileprivate typealias Kind = (source: String, content: String, warning: CacheError.Code?)

  private let rows: [[Snapshot<LocatedResponse>]]
  private let asked = Mutex<[FetchPolicy]>([])

  init(_ rows: [[Kind]], content: [UInt8]) {
    let gzip = Gzip.compress(content)
    self.rows = rows.map { row in
      row.map { kind in
        let head = HTTP.ResponseHead(
          status: 200, fields: ["Content-Encoding": kind.content == "unknown" ? "br" : "gzip"])
        let answer = LocatedResponse(
          url: "http://a/", response: HTTP.Response(head, body: kind.content == "damaged" ? gzip.dropLast(5) : gzip))
        return Snapshot(
          value: answer, source: kind.source == "cache" ? .cache : .origin,
          entry: EntryFacts(key: "k", storedAt: .zero, freshUntil: .zero, now: .zero),
          warnings: kind.warning.map { code in
            [CacheWarning(code == .damaged ? .reading : .fetching, CacheError(code, "it failed"))]
          } ?? [])
      }
    }
  }

  var policies: [FetchPolicy] { asked.withLock { $0 } }

  func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int
  ) -> Snapshots<LocatedResponse> {
    Snapshots(explain: { () throws(CacheError) in throw .cancelled }) { () throws(CacheError) in
      let row = self.asked.withLock { asked in
        defer { asked.append(options.policy) }
        return self.rows[asked.count]
      }
      return Self.step(row[...])
    }
  }

  private static func step(_ row: ArraySlice<Snapshot<LocatedResponse>>) -> Snapshots<LocatedResponse>.Step {
    let rest = row.dropFirst()
    guard !rest.isEmpty else { return Snapshots.Step(row[row.startIndex]) }
    return Snapshots.Step(row[row.startIndex]) { () throws(CacheError) in step(rest) }
  }
}
