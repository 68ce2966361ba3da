internal import CacheData
internal import CacheDomain
internal import ResponseStorage
internal import SampleOrigin
internal import StorageBenchmark
internal import StorageSPI

/// Pages of 20 movies each from the bundled sample, for the workloads that decode what they read.
struct MoviePages: Sendable {
  /// The number of different pages: a prime, so that no regular choice of entries always meets the same pages.
  static let count = 61

  private let coding: MoviesPageCoding
  let pages: [MoviesPageDTO]
  private let payloads: [[UInt8]]

  /// Loads the pages from a search with enough results.
  static func load() async throws(CacheError) -> MoviePages {
    let origin = SampleMovieOrigin()
    var pages: [MoviesPageDTO] = []
    for page in 1...count {
      guard let query = MovieQuery("the") else { break }
      let request = MoviesRequestDTO(origin: origin.name, query: query, page: page)
      if let response = try await origin.answer(to: request, conditions: [:]).response { pages.append(response) }
    }
    return try MoviePages(pages)
  }

  private init(_ pages: [MoviesPageDTO]) throws(CacheError) {
    let coding = try MoviesPageCoding()
    var payloads: [[UInt8]] = []
    for page in pages { payloads.append(try coding.encode(page)) }
    (self.coding, self.pages, self.payloads) = (coding, pages, payloads)
  }

  /// The records of a benchmark: a read decodes the page as a cache hit does, and compares all of it.
  var payload: TypedPayload {
    TypedPayload(
      encode: { [payloads] number throws(CacheError) in payloads[number % payloads.count] },
      isRight: { [coding, pages] number, bytes throws(CacheError) in
        try coding.decode(bytes) == pages[number % pages.count]
      })
  }
}
