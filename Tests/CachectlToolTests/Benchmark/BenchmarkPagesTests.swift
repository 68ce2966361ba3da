import CacheDomain
import EngineBenchmark
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// What the workloads about the cache itself read and fetch.
struct BenchmarkPagesTests {
  @Test func moviesAreReadAsTheyWereWritten() async throws {
    let payload = try await MoviePages.load().payload
    for number in [0, 1, MoviePages.count - 1, MoviePages.count, 1_000_003] {
      let bytes = try payload.encode(number)
      #expect(bytes.count > 2_000)
      #expect(try payload.isRight(number, bytes.span))
      #expect(try payload.encode(number) == bytes)
    }
    let other = try payload.encode(1)
    #expect(try !payload.isRight(0, other.span))
    let cut = Array(other.dropLast())
    #expect(throws: CacheError.self) { try payload.isRight(1, cut.span) }
  }

  @Test func everyNumberIsAnotherQuery() {
    let queries = (0..<2_000).map(CityPages.query)
    #expect(Set(queries).count == queries.count)
  }

  @Test func answersAreChecked() async throws {
    let pages = try await CityPages.load(share: 0, now: Timestamp(milliseconds: 1_700_000_000_000))
    let engine = try await PluginCatalogue.builtIn.plugin(named: "memory").open(
      EngineConfiguration(
        for: PluginCatalogue.builtIn.plugin(named: "memory").declaration, values: [:], clock: SystemWallClock()))
    let fetcher = pages.fetcher(over: engine)
    // Behind the last page the same cities come again, under other keys.
    for number in [0, 7, 1_457, 1_458, 90_000] {
      #expect(try await fetcher.fetch(number, isStored: false) == .miss, "\(number)")
      #expect(try await fetcher.fetch(number, isStored: true) == .hit, "\(number)")
      #expect(try await fetcher.fetch(number, isStored: false) == .wrong, "it came out of the store")
    }
    let empty = CitiesPage(page: 0, totalPages: 1, totalItems: 1, cities: [])
    #expect(!pages.isAnswer(empty, to: 0) && pages.isAnswer(empty, to: 1_458) == false)
    try await engine.close()
    await #expect(throws: CacheError.self) { try await fetcher.fetch(0, isStored: true) }
  }
}
