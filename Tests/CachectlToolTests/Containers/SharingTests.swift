import CacheDomain
import CacheCore
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// Several handles on one store, as several processes have them.
struct SharingTests {
  @Test(arguments: Backends.persistent)
  func noHandleLosesTheQueriesOfAnother(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(#"{"backend": "\#(backend)", "queries": {"maxCount": 100}}"#)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for handle in 0..<4 {
        group.addTask {
          let store = try await container.openStore()
          let search = try container.context(store).makeSearchMoviesUseCase()
          for number in 0..<5 {
            let query = try #require(MovieQuery("handle\(handle) query\(number)"))
            for try await snapshot in search.execute(query) { #expect(snapshot.warnings.isEmpty) }
          }
          try await store.close()
        }
      }
      try await group.waitForAll()
    }
    let store = try await container.openStore()
    let recent = container.context(store).makeFetchRecentMovieQueriesUseCase()
    let expected = (0..<4).flatMap { handle in (0..<5).map { "handle\(handle) query\($0)" } }
    #expect(try await recent.execute().map(\.query.text).sorted() == expected)
    // The queries share one entry; each search has one of its own.
    #expect(try await store.administration.statistics().count(.fresh) == expected.count + 1)
    try await store.close()
  }

  @Test(arguments: Backends.persistent)
  func whatOneHandleStoresAnotherOneFinds(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let (left, right) = (try await container.openStore(), try await container.openStore())
    #expect(try await fetchCities(container, left).map(\.source) == [.origin])
    #expect(try await fetchCities(container, right).map(\.source) == [.cache])
    try await left.close()
    #expect(try await fetchCities(container, right).map(\.source) == [.cache])
    try await right.close()
  }
}
