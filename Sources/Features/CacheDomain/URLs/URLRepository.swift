public import HTTPMessages

/// A source of responses to requests for URLs.
public protocol URLRepository: Sendable {
  /// Fetches the response to `request`, which a person wrote, as `options` say, and follows redirects.
  ///
  /// - Parameters:
  ///   - maxRedirects: how many redirects to follow, 0 or more; with 0, a redirect is a response like any other.
  ///   - unwantedFields: the names, in lower case, of the fields that are not to be added by default.
  func response(
    to request: HTTPRequest, maxRedirects: Int, unwantedFields: Set<String>, options: FetchOptions
  ) -> Snapshots<LocatedResponse>
}
