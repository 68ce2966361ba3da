public import CacheDomain
public import CacheCore
internal import EngineAPI

/// Recent searches in one entry of a store.
///
/// A change is written only if no other writer has changed the entry in between, and is repeated otherwise. So two
/// processes that search at the same time lose neither query.
public struct DefaultMovieQueriesRepository: MovieQueriesRepository {
  /// The entry's payload.
  fileprivate struct Payload {
    struct Query {
      let query: String
      /// Milliseconds since 1970-01-01T00:00:00Z.
      let searchedAt: Int64
    }
    var queries: [Query] = []
  }

  private let store: EntryStore
  private let codec = PayloadCodec<Payload>.json
  private let maximumCount: Int

  /// Creates a repository over `store` that keeps the newest `maximumCount` queries (0 or more).
  public init(store: EntryStore, maximumCount: Int) {
    self.store = store
    self.maximumCount = maximumCount
  }

  /// The queries, newest first, without duplicates.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is damaged (`damaged`).
  public func recentQueries() async throws(CacheError) -> [RecentMovieQuery] {
    let key = try key
    guard let queries = try await store.read(key, codec)?.value.queries else { return [] }
    store.uses.record(key, at: store.clock.now)
    return queries.prefix(maximumCount).compactMap { stored in
      MovieQuery(stored.query).map { RecentMovieQuery(query: $0, searchedAt: .milliseconds(stored.searchedAt)) }
    }
  }

  /// Makes `query` the most recent one, and drops the oldest if there are too many.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing the entry (`conflict`).
  public func save(_ query: MovieQuery) async throws(CacheError) {
    try await store.update(try key, codec) { current in
      var payload = current ?? Payload()
      payload.queries.removeAll { $0.query == query.text }
      payload.queries.insert(Payload.Query(query: query.text, searchedAt: store.clock.now.milliseconds), at: 0)
      payload.queries = Array(payload.queries.prefix(maximumCount))
      return (payload, retainUntil: .distantFuture)
    }
  }

  private var key: CacheKey {
    get throws(CacheError) { try CacheKey("queries/v1/recent") }
  }
}

extension DefaultMovieQueriesRepository.Payload: JSONPayload {
  init(json: inout JSONReader) throws(JSONReader.Failure) {
    var queries: [Query]?
    try json.object { json, name throws(JSONReader.Failure) in
      if name == "queries" {
        queries = try json.array { json throws(JSONReader.Failure) in try Query(json: &json) }
      } else {
        try json.skipValue()
      }
    }
    self.init(queries: try json.required(queries, "queries"))
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.name("queries")
      json.array(queries) { json, query in
        json.object { json in
          json.member("query", query.query)
          json.member("searchedAt", query.searchedAt)
        }
      }
    }
  }
}

extension DefaultMovieQueriesRepository.Payload.Query {
  fileprivate init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (query, searchedAt) = (String?.none, Int?.none)
    try json.object { json, name throws(JSONReader.Failure) in
      switch name {
      case "query": query = try json.string()
      case "searchedAt": searchedAt = try json.integer()
      default: try json.skipValue()
      }
    }
    self.init(
      query: try json.required(query, "query"), searchedAt: Int64(try json.required(searchedAt, "searchedAt")))
  }
}
