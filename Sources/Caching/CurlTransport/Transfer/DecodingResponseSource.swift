public import CacheCore
public import FetchVocabulary
public import HTTPCaching

/// Asks for compressed responses, and decompresses them behind the cache, which keeps the bytes as they arrived.
///
/// It adds `Accept-Encoding` to requests without one. The header of a response stays as it arrived, and so does partial
/// content, which cannot be decompressed. Damaged content and unknown codings are errors. If such content came from the
/// cache, it is requested from the server once more.
public struct DecodingResponseSource: HTTPResponseSource {
  private let base: any HTTPResponseSource
  private let limit: Int

  /// Creates a source in front of `base` that holds `limit` bytes of decoded content in memory, or one piece more.
  /// Longer content, and content that is still arriving, is decoded as it is read.
  public init(_ base: any HTTPResponseSource, limit: Int) {
    self.base = base
    self.limit = limit
  }

  /// The responses of `base`, decompressed.
  public func followedResponses(
    to request: HTTP.Request, options: FetchOptions, maxRedirects: Int
  ) -> Snapshots<LocatedResponse> {
    guard let asking = ContentCoding.accepting(request) else {
      return base.followedResponses(to: request, options: options, maxRedirects: maxRedirects)
    }
    return results(for: asking, options, maxRedirects)
      .following { snapshot throws(CacheError) in
        guard case .failure = snapshot.value, options.policy != .cacheOnly, snapshot.isFromCacheAlone else {
          return nil
        }
        return results(for: asking, options.with(.networkOnly), maxRedirects)
      }
      .mapValues { result throws(CacheError) in try result.get() }
  }

  /// The responses of `base`, decoded, or the errors of decoding them.
  private func results(
    for request: HTTP.Request, _ options: FetchOptions, _ maxRedirects: Int
  ) -> Snapshots<Result<LocatedResponse, CacheError>> {
    base.followedResponses(to: request, options: options, maxRedirects: maxRedirects).mapValues { located in
      do throws(CacheError) { return .success(try await decoded(located)) } catch { return .failure(error) }
    }
  }

  private func decoded(_ located: LocatedResponse) async throws(CacheError) -> LocatedResponse {
    let response = located.response
    let (codings, rest) = ContentCoding.undoable(response.head.fields["content-encoding"] ?? "")
    guard !response.body.isEmpty || response.rest != nil else { return located }
    if let rest {
      throw CacheError(
        .invalidAnswer, "the response is encoded as '\(rest)', which this program cannot decode",
        hint: "fetch it without decoding")
    }
    if codings.isEmpty { return located }
    let pieces = { DecodedContent.pieces(of: response, without: codings, to: HTTP.Request(url: located.url)) }
    if let rest = response.rest {
      return located.with([], rest: StreamedContent(trailers: { rest.trailers }, pieces()))
    }
    let next = pieces()
    var body: [UInt8] = []
    while let piece = try await next() {
      body += piece
      guard body.count > limit else { continue }
      // Check the content to its end first: bytes that have been passed on cannot be taken back.
      while try await next() != nil {}
      return located.with([], rest: StreamedContent(trailers: { response.trailers }, pieces()))
    }
    return located.with(body, rest: nil)
  }
}

extension Snapshot {
  /// Whether the response is from the cache, and the origin has not just failed to respond.
  fileprivate var isFromCacheAlone: Bool { source == .cache && !warnings.contains { $0.phase == .fetching } }
}

extension FetchOptions {
  fileprivate func with(_ policy: FetchPolicy) -> FetchOptions {
    var options = self
    options.policy = policy
    return options
  }
}

extension LocatedResponse {
  /// This response with other content. Its trailers stay with it.
  fileprivate func with(_ body: [UInt8], rest: StreamedContent?) -> LocatedResponse {
    var response = response
    response.body = body
    response.rest = rest
    return LocatedResponse(url: url, response: response)
  }
}
