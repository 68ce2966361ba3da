/// A source of answers to requests for URLs.
public protocol URLRepository: Sendable {
  /// Fetches the answer to `query` as `options` say, and follows redirects.
  func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer>
}
