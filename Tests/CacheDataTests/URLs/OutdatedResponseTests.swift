import FetchVocabulary
import Testing
@testable import CacheCore
@testable import HTTPCaching

/// Responses that may not be served any more, or only while the origin fails.
struct OutdatedResponseTests {
  private static let fresh: HTTP.Fields = ["Cache-Control": "max-age=600, stale-if-error=600", "ETag": "\"1\""]

  /// A cache that holds a fresh response.
  private func bench(_ fields: HTTP.Fields = fresh) async throws -> HTTPCacheBench {
    let bench = HTTPCacheBench(FakeTransfer(200, fields, "old"))
    _ = try await bench.get()
    #expect(bench.storage.keys.count == 1)
    return bench
  }

  /// Returns the results of a fetch: with the cache unchanged, offline, and with the origin down.
  private func answers(_ bench: HTTPCacheBench) async throws -> [String] {
    var answers: [String] = []
    let down = FakeTransfer(failing: CacheError(.originUnreachable, "it is down"))
    for (policy, origin) in [(.cacheFirst, FakeTransfer(503)), (.cacheOnly, down), (.cacheFirst, down)]
      as [(FetchPolicy, FakeTransfer)]
    {
      let response = try? await bench.get([:], policy, from: origin).first?.value
      answers.append(response.map { $0.head.status == 200 ? String(decoding: $0.body, as: UTF8.self) : "-" } ?? "-")
    }
    return answers
  }

  @Test(
    arguments: [
      (200, ["Cache-Control": "no-store"]), (200, ["Cache-Control": "x=\"y, no-store"]), (200, ["Vary": "*"]),
      (404, ["Cache-Control": "no-store"]), (410, ["Vary": "*"]), (302, ["Location": "/b"]), (301, ["Vary": "*"]),
      (203, ["Cache-Control": "no-store"]), (204, ["Vary": "*"]), (206, ["ETag": "\"2\""]), (299, [:]),
    ] as [(Int, HTTP.Fields)], [FetchPolicy.networkOnly, .cachedThenNetwork])
  func aNewerResponseThatIsNotStoredRemovesTheOlder(
    answer: (status: Int, fields: HTTP.Fields), policy: FetchPolicy
  ) async throws {
    let bench = try await bench()
    let newer = try #require(
      try await bench.get([:], policy, from: FakeTransfer(answer.status, answer.fields, "new")).last)
    #expect(newer.value.head.status == answer.status && newer.warnings.isEmpty)
    #expect(bench.storage.keys.isEmpty)
    #expect(try await answers(bench) == ["-", "-", "-"])
  }

  /// 404 and 410 without a lifetime are stored, and replace it.
  @Test(arguments: [404, 410]) func removedEntriesAreNotServedAnyMore(status: Int) async throws {
    let bench = try await bench()
    _ = try await bench.get([:], .networkOnly, from: FakeTransfer(status, [:], "gone"))
    #expect(try await answers(bench) == ["-", "-", "-"])
  }

  @Test func aRequestThatForbidsStoringReplacesTheResponseAllTheSame() async throws {
    let bench = try await bench()
    _ = try await bench.get(["Cache-Control": "no-store, no-cache"], from: FakeTransfer(200, Self.fresh, "new"))
    #expect(bench.storage.keys.isEmpty)
    let confirmed = try await self.bench()
    let same = FakeTransfer(304, Self.fresh)
    _ = try await confirmed.get(["Cache-Control": "no-store, no-cache"], from: same)
    #expect(try await answers(confirmed) == ["old", "old", "old"])
  }

  /// The origin's own failures change nothing. A response that rejects the request or its sender only ends the
  /// freshness.
  @Test(arguments: [(500, true), (503, true), (429, true), (407, true), (416, true), (401, false), (403, false)])
  func anErrorThatIsNotAboutTheResourceLeavesTheResponse(status: Int, isFresh: Bool) async throws {
    let bench = try await bench()
    _ = try await bench.get([:], .networkOnly, from: FakeTransfer(status, ["Cache-Control": "no-store"]))
    #expect(try await answers(bench) == ["old", "old", "old"])
    #expect(try await bench.get([:], .cacheOnly).first?.entry.isStale == !isFresh)
  }

  @Test func onlyTheSelectedVariantIsReplaced() async throws {
    let fields = HTTP.Fields(Self.fresh.lines + [HTTP.Fields.Field("Vary", "Accept")])
    let bench = HTTPCacheBench(FakeTransfer(200, fields, "old"))
    for accept in ["a", "b"] { _ = try await bench.get(["Accept": accept]) }
    let newer = FakeTransfer(200, ["Cache-Control": "no-store", "Vary": "Accept"], "new")
    _ = try await bench.get(["Accept": "a"], .networkOnly, from: newer)
    #expect(bench.storage.count(of: HTTPCacheBench.url) == 1)
    #expect(try await bench.get(["Accept": "b"]).first?.value.body == Array("old".utf8))
    #expect(bench.transfer.requests.count == 2)
  }

  /// The older response is removed, although the newer one cannot be stored.
  @Test(arguments: [CacheError.Code.noSpace, .tooLarge, .overBounds, .ioFailed])
  func aResponseThatCannotBeStoredReplacesTheOlder(code: CacheError.Code) async throws {
    let bench = try await bench()
    bench.storage.failToStore(CacheError(code, "it cannot be stored"))
    let newer = try await bench.get([:], .networkOnly, from: FakeTransfer(200, Self.fresh, "new"))
    #expect(newer.first?.warnings.map(\.error.message) == ["it cannot be stored"])
    #expect(bench.storage.keys.isEmpty)
  }

  /// A confirmation that cannot be stored leaves the response that it confirms.
  @Test func aConfirmationThatCannotBeStoredRemovesNothing() async throws {
    let bench = try await bench()
    bench.storage.failToStore(CacheError(.noSpace, "the disk is full"))
    _ = try await bench.get(["Cache-Control": "no-cache"], from: FakeTransfer(304, Self.fresh))
    #expect(try await answers(bench) == ["old", "old", "old"])
  }

  @Test func aPartOfTheSameContentKeepsTheCompleteResponse() async throws {
    let bench = try await bench()
    let part: HTTP.Fields = ["ETag": "\"1\"", "Content-Range": "bytes 0-0/3", "Cache-Control": "no-store"]
    _ = try await bench.get(["Range": "bytes=0-0"], .networkOnly, from: FakeTransfer(206, part, "o"))
    #expect(try await answers(bench) == ["old", "old", "old"])
  }

  /// RFC 9111, section 4.3.5, even if the cache was not to be read.
  @Test(
    arguments: [
      (200, ["ETag": "\"1\"", "Cache-Control": "max-age=900"], false), (200, ["ETag": "\"2\""], true),
      (200, ["ETag": "\"1\"", "Content-Length": "99"], true), (404, [:], true), (302, [:], true),
      (200, ["ETag": "\"1\"", "Cache-Control": "no-store"], true), (500, [:], false), (405, [:], false),
    ] as [(Int, HTTP.Fields, Bool)], [FetchPolicy.networkOnly, .cacheFirst])
  func aHeadUpdatesOrOutdatesTheStoredResponse(
    answer: (status: Int, fields: HTTP.Fields, isOutdated: Bool), policy: FetchPolicy
  ) async throws {
    let (status, fields, isOutdated) = answer
    let bench = try await bench()
    let origin = FakeTransfer(status, fields)
    let request: HTTP.Fields = policy == .cacheFirst ? ["Cache-Control": "no-cache"] : [:]
    _ = try await bench.get(request, policy, method: "HEAD", from: origin)
    #expect(origin.requests.map(\.method) == ["HEAD"])
    let stored = try #require(try await bench.get([:], .cacheOnly).first)
    #expect(stored.value.body == Array("old".utf8) && stored.entry.isStale == isOutdated)
    #expect((stored.entry.remainingFreshness == .seconds(900)) == (fields["Cache-Control"] == "max-age=900"))
  }

  /// It confirms nothing, and is not a valid response.
  @Test(arguments: ["GET", "HEAD"], [FetchPolicy.cacheFirst, .networkOnly])
  func aConfirmationOfNothingIsAnInvalidResponse(method: String, policy: FetchPolicy) async throws {
    let bench = HTTPCacheBench(FakeTransfer(304, ["ETag": "\"1\""]))
    let error = await #expect(throws: CacheError.self) { try await bench.get([:], policy, method: method) }
    #expect(error?.code == .invalidAnswer)
    let own = try await bench.get(["If-None-Match": "\"1\""], policy, method: method)
    #expect(own.first?.value.head.status == 304)
    #expect(try await bench.get(method: "POST").first?.value.head.status == 304)
  }

  @Test func aStaleResponseIsServedInsteadOfAConfirmationOfNothing() async throws {
    let bench = HTTPCacheBench(FakeTransfer(200, ["Cache-Control": "max-age=10, stale-if-error=600"], "old"))
    _ = try await bench.get()
    bench.wait(20)
    let snapshot = try #require(try await bench.get(from: FakeTransfer(304)).first)
    #expect(snapshot.value.body == Array("old".utf8) && snapshot.warnings.map(\.error.code) == [.invalidAnswer])
  }

  @Test(arguments: [FakeTransfer(500), FakeTransfer(failing: CacheError(.originUnreachable, "it is down"))])
  func withAFailingOriginTheCallersLimitsHold(origin: FakeTransfer) async throws {
    let bench = try await bench()
    bench.wait(610)
    let options: [(FetchOptions, HTTP.Fields, isServed: Bool)] = [
      (FetchOptions(), [:], true), (FetchOptions(maxStale: .zero), [:], false),
      (FetchOptions(maxStale: .seconds(9)), [:], false), (FetchOptions(maxStale: .seconds(10)), [:], true),
      (FetchOptions(), ["Cache-Control": "no-cache"], false), (FetchOptions(), ["Pragma": "no-cache"], false),
      (FetchOptions(), ["Cache-Control": "max-stale=5"], false), (FetchOptions(requiresFresh: true), [:], false),
      (FetchOptions(maxStale: .seconds(99), requiresFresh: true), [:], false),
      (FetchOptions(policy: .cachedThenNetwork, requiresFresh: true), [:], false),
      (FetchOptions(policy: .cacheOnly, requiresFresh: true), [:], false),
    ]
    for (options, fields, isServed) in options {
      let body = try? await bench.get(fields, from: origin, options: options).first?.value.body
      #expect((body == Array("old".utf8)) == isServed, "\(options), \(fields)")
    }
  }

  /// A caller that accepts no stale response gets an error, also for a status that would be shown otherwise.
  @Test func onlyAStaleResponseIsAnErrorForWhomItMustBeFresh() async throws {
    let bench = try await bench()
    let options = FetchOptions(requiresFresh: true)
    #expect(try await bench.get(from: FakeTransfer(500), options: options).first?.value.body == Array("old".utf8))
    bench.wait(610)
    let failed = await #expect(throws: CacheError.self) {
      try await bench.get(from: FakeTransfer(500), options: options)
    }
    #expect(failed?.code == .originUnreachable)
    #expect(failed?.message == "a.example responded with status 500; only a stale copy is in the cache")
    let offline = await #expect(throws: CacheError.self) {
      try await bench.get(options: FetchOptions(policy: .cacheOnly, requiresFresh: true))
    }
    #expect(offline?.code == .originUnreachable && offline?.message.contains("only a stale copy of") == true)
    let missing = await #expect(throws: CacheError.self) {
      bench.storage.removeAll()
      _ = try await bench.get(options: FetchOptions(policy: .cacheOnly, requiresFresh: true))
    }
    #expect(missing?.code == .notCached)
    #expect(try await bench.get(from: FakeTransfer(500), options: options).first?.value.head.status == 500)
  }

  /// The value that was shown first is fresh, and remains the result.
  @Test func aFreshResponseIsServedAlthoughTheOriginFails() async throws {
    let bench = try await bench()
    let options = FetchOptions(policy: .cachedThenNetwork, requiresFresh: true)
    let snapshots = try await bench.get(from: FakeTransfer(500), options: options)
    #expect(snapshots.map(\.value.body) == [Array("old".utf8), Array("old".utf8)])
    #expect(snapshots.last?.warnings.map(\.error.code) == [.originUnreachable])
  }

  /// RFC 9211, section 2: a hit was not forwarded.
  @Test(arguments: [
    (FakeTransfer(500), "fwd=stale; fwd-status=500; ttl=-10"),
    (FakeTransfer(failing: CacheError(.originUnreachable, "it is down")), "fwd=stale; ttl=-10"),
    (FakeTransfer(failing: CacheError(.invalidAnswer, "that is no HTTP")), "fwd=stale; ttl=-10"),
  ])
  func theCacheStatusOfAStaleResponseSaysThatTheOriginFailed(_ origin: FakeTransfer, _ status: String) async throws {
    let bench = try await bench()
    bench.wait(610)
    let snapshot = try #require(try await bench.get(from: origin).first)
    #expect(snapshot.source == .cache && !snapshot.isRevalidated && snapshot.entry.isStored)
    #expect(snapshot.value.head.fields["Cache-Status"] == "ResponseCache; " + status)
    #expect(snapshot.value.head.fields["Age"] == "610")
  }

  @Test(arguments: [(0, "request"), (610, "stale")])
  func theSecondResponseNamesTheReasonForTheRequest(after seconds: Int, reason: String) async throws {
    let bench = try await bench()
    bench.wait(seconds)
    for (origin, status) in [(FakeTransfer(500), "fwd-status=500"), (FakeTransfer(304, Self.fresh), "fwd-status=304")] {
      let snapshots = try await bench.get([:], .cachedThenNetwork, from: origin)
      let texts = snapshots.map { $0.value.head.fields["Cache-Status"] ?? "" }
      #expect(texts.count == 2 && texts[0].hasPrefix("ResponseCache; hit; ttl="), "\(texts)")
      #expect(texts.last?.hasPrefix("ResponseCache; fwd=\(reason); \(status)") == true, "\(texts)")
    }
  }
}
