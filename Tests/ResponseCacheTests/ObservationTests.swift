import FetchVocabulary
import HTTPCaching
import MemoryStorage
import PlistStorage
import ResponseCache
import ResponseCacheTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The warnings of a cache.
final class Warnings: Sendable {
  private let warnings = Mutex<[CacheWarning]>([])

  var all: [CacheWarning] { warnings.withLock { $0 } }
  var codes: [CacheError.Code] { all.map(\.error.code) }

  @Sendable func add(_ warning: CacheWarning) { warnings.withLock { $0.append(warning) } }
}

/// The warnings, events and times that a program gets from its cache.
@Suite final class ObservationTests: Sendable {
  private struct NoNetwork: Error {}

  private let clock = ManualClock()
  private let warnings = Warnings()
  private let events = Mutex<[String]>([])

  @Sendable private func note(_ event: CacheEvent) {
    #expect(event.duration >= .zero)
    events.withLock { $0.append("\(event.resource) \(event.outcome)") }
  }

  /// The events since the last call.
  private func takeEvents() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  @Test func aWarningSaysWhatFailedAndWhere() async throws {
    let limits = StoreLimits(maxEntries: 10, maxBytes: 100)
    let nowhere = StorageLocation.plist(path: "/dev/null/store")
    let cache = try await Cache(nowhere, limits: limits, clock: clock, fallback: .memory, warn: warnings.add)
    let origin = FakeOrigin { (city: String) in city }
    let weather = try cache.resource("weather", freshFor: .seconds(10), fetch: origin.fetch)
    _ = try await weather("Bern")
    clock.advance(by: .seconds(10))
    origin.fail(with: NoNetwork())
    _ = try await weather("Bern")
    origin.answer { String(repeating: $0, count: 100) }
    _ = try await weather("Bern")
    let values = warnings.all.map { "\($0.phase) \($0.resource ?? "-") \($0.key ?? "-") \($0.error.code)" }
    #expect(
      values == [
        "opening - - cannotCreate", "fetching weather weather/v1/query=Bern/version=1 originUnreachable",
        "storing weather weather/v1/query=Bern/version=1 tooLarge",
      ])
    #expect(
      warnings.all[1].description
        == "fetching weather/v1/query=Bern/version=1: originUnreachable: weather of 'Bern' could not be fetched: NoNetwork()"
    )
  }

  @Test func everyCallThatReadsIsAnEvent() async throws {
    let cache = try await Cache.inMemory(clock: clock, observe: note)
    let origin = FakeOrigin { (city: String) in city }
    let weather = try cache.resource("weather", freshFor: .seconds(10), fetch: origin.fetch)
    _ = try? await weather("Bern", policy: .cacheOnly)
    for _ in 0..<4 { _ = try await weather("Bern") }
    #expect(takeEvents() == ["weather missing", "weather fetched"] + Array(repeating: "weather hit", count: 3))
    clock.advance(by: .seconds(10))
    origin.fail(with: NoNetwork())
    for _ in 0..<2 { _ = try await weather("Bern", policy: .cacheOnly) }
    _ = try await weather("Bern")
    _ = try? await weather("Quito")
    #expect(takeEvents() == Array(repeating: "weather stale", count: 3) + ["weather failed"])
    origin.fail(with: nil)
    for try await _ in weather.snapshots(for: "Bern", policy: .cachedThenNetwork) {}
    #expect(takeEvents() == ["weather stale", "weather fetched"])
  }

  @Test func readingAValueIsAnEvent() async throws {
    let cache = try await Cache.inMemory(clock: clock, observe: note)
    try await cache.set("text", for: "a", freshFor: .seconds(10))
    for _ in 0..<3 { _ = try await cache.value(String.self, for: "a") }
    _ = try await cache.values(String.self, for: ["a", "b"])
    #expect(takeEvents() == Array(repeating: "values hit", count: 4) + ["values missing"])
    clock.advance(by: .seconds(10))
    _ = try await cache.value(String.self, for: "a")
    _ = try await cache.snapshot(String.self, for: "a")
    #expect(takeEvents() == ["values missing", "values stale"])
    for _ in 0..<3 { _ = try await cache.value(for: "a") { "new" } }
    _ = try? await cache.value(Int.self, for: "a")
    #expect(takeEvents() == ["values fetched", "values hit", "values hit", "values failed"])
    #expect(try await cache.snapshot(String.self, for: "a")?.entry.storedAt == clock.now.date)
  }

  @Test func aResponseIsAnEvent() async throws {
    let cache = try await Cache.inMemory(clock: clock, observe: note)
    let server = FakeOrigin { (request: HTTP.Request) in
      let isConfirmed = request.fields["if-none-match"] != nil
      let fields: HTTP.Fields = ["cache-control": "max-age=10", "etag": "\"a\""]
      return HTTP.Response(
        HTTP.ResponseHead(status: isConfirmed ? 304 : 200, fields: fields), body: isConfirmed ? [] : [1])
    }
    let request = HTTP.Request(url: "https://www.example.com/")
    for seconds in [0, 5, 5, 20] {
      clock.advance(by: .seconds(seconds))
      if seconds == 20 { server.fail(with: NoNetwork()) }
      _ = try? await cache.response(to: request, over: server)
    }
    #expect(takeEvents() == ["url fetched", "url hit", "url revalidated", "url stale"])
  }

  @Test func pointsInTimeAreDates() {
    let date = Date(timeIntervalSince1970: 1_767_225_600.123)
    #expect(Timestamp(date).milliseconds == 1_767_225_600_123 && Timestamp(date).date == date)
    #expect(Timestamp(Date.distantPast) == Timestamp(milliseconds: 0))
    for seconds in [Double.infinity, .nan] {
      #expect(Timestamp(Date(timeIntervalSince1970: seconds)) == .distantFuture)
    }
    let facts = EntryFacts(key: "", storedAt: .milliseconds(1_500), freshUntil: .seconds(60), now: .seconds(2))
    #expect(facts.storedAt == Date(timeIntervalSince1970: 1.5) && facts.freshUntil == Date(timeIntervalSince1970: 60))
  }
}
