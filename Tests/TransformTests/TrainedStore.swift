import CacheData
import CacheDomain
import FetchVocabulary
import SampleOrigin
import StorageSPI
import Testing

@testable import ResponseStorage

/// Pages of movies as a fetch stores them.
enum MoviePages {
  /// The first 40 pages that most tests store. Made once: in a debug build the sample takes seconds to search.
  private static let usual = Task { try await made(["the"], 40) }

  /// The first `count` pages for each of `words`.
  static func pages(_ words: [String], _ count: Int) async throws -> [[UInt8]] {
    words == ["the"] && count == 40 ? try await usual.value : try await made(words, count)
  }

  private static func made(_ words: [String], _ count: Int) async throws -> [[UInt8]] {
    let (origin, coding) = (SampleMovieOrigin(), try MoviesPageCoding())
    var pages: [[UInt8]] = []
    for word in words {
      let query = try #require(MovieQuery(word))
      for page in 1...count {
        let request = MoviesRequestDTO(origin: origin.name, query: query, page: page)
        let answer = try await origin.answer(to: request, conditions: [:]).response
        if let answer, !answer.items.isEmpty { pages.append(try coding.encode(answer)) }
      }
    }
    return pages
  }

  static func key(_ index: Int) throws -> CacheKey { try CacheKey("movies/v1/page=\(1_000 + index)") }
}

extension Scratch {
  /// Writes `pages` with `chain`, then trains.
  func trained(_ pages: [[UInt8]], _ chain: [String] = ["zstd"]) async throws -> TrainingReport {
    try await write(pages, chain)
    return try #require(try await administration(try Transforms.named(chain)).train().first)
  }

  /// Writes `pages` with `chain`.
  func write(_ pages: [[UInt8]], _ chain: [String] = ["zstd"]) async throws {
    let store = store(try Transforms.named(chain))
    for (index, page) in pages.enumerated() {
      try await store.write(MoviePages.key(index), payload: page, metadata: metadata())
    }
  }

  /// The keys of the dictionaries.
  func dictionaries() async throws -> [CacheKey] {
    try await engine.scan(KeyRange(prefix: "leases/dictionaries/"), limit: 10).map(\.key)
  }

  /// Removes the entries under `keys`, as another process does.
  func remove(_ keys: [CacheKey]) async throws {
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    try await engine.apply(batch)
  }

  /// Expects that a process with nothing loaded reads `pages`.
  func expectReadable(_ pages: [[UInt8]], _ location: SourceLocation = #_sourceLocation) async throws {
    let store = store(try Transforms.named([]))
    for (index, page) in pages.enumerated() {
      #expect(try await store.payload(MoviePages.key(index))?.payload == page, "\(index)", sourceLocation: location)
    }
  }
}
