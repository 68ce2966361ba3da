/// Answers to requests for URLs, from wherever they are.
public protocol URLRepository: Sendable {
  /// The answer to `query`, fetched as `options` say. Redirections are followed.
  func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer>
}
