internal import CacheData
public import CacheDomain
internal import Synchronization

/// Asks for compressed answers, and decompresses them behind the cache, which keeps the bytes as they arrived.
///
/// It adds `Accept-Encoding` to queries without one. The header of an answer stays as it arrived, and so does partial
/// content, which cannot be decompressed. Damaged content and unknown codings are errors. If such content came from the
/// cache, the origin is asked for it once more.
public struct DecodingURLRepository: URLRepository {
  private let base: any URLRepository
  private let limit: Int

  /// Creates a repository in front of `base` that holds `limit` bytes of decoded content in memory, or one piece more.
  /// Longer content is decoded as it is read.
  public init(_ base: any URLRepository, limit: Int) {
    self.base = base
    self.limit = limit
  }

  /// The answers of `base`, decompressed.
  public func answer(to query: URLQuery, options: FetchOptions) -> Snapshots<URLAnswer> {
    if query.has("range") { return base.answer(to: query, options: options) }
    var asking = query
    if !query.has("accept-encoding") {
      asking.fields.append(URLQuery.Field(name: "Accept-Encoding", value: ContentCoding.accepted))
    }
    return results(for: asking, options)
      .following { [asking] snapshot throws(CacheError) in
        guard case .failure = snapshot.value, options.policy != .cacheOnly, snapshot.isFromCacheAlone else {
          return nil
        }
        return results(for: asking, options.with(.networkOnly))
      }
      .mapValues { result throws(CacheError) in try result.get() }
  }

  /// The answers of `base`, decoded, or the errors of decoding them.
  private func results(for query: URLQuery, _ options: FetchOptions) -> Snapshots<Result<URLAnswer, CacheError>> {
    base.answer(to: query, options: options).map { snapshot in
      do throws(CacheError) {
        return snapshot.with(.success(try await decoded(snapshot.value, isStored: snapshot.source == .cache)))
      } catch {
        return snapshot.with(.failure(error))
      }
    }
  }

  private func decoded(_ answer: URLAnswer, isStored: Bool) async throws(CacheError) -> URLAnswer {
    let values = answer.fields.filter { $0.name.lowercased() == "content-encoding" }.map(\.value)
    let (codings, rest) = ContentCoding.undoable(values.joined(separator: ","))
    guard !answer.body.isEmpty || answer.rest != nil else { return answer }
    if let rest {
      throw CacheError(
        .invalidAnswer, "the answer is coded as '\(rest)', which cannot be undone here", hint: "take it as it came")
    }
    if codings.isEmpty { return answer }
    let next = pieces(of: answer, codings)
    var body: [UInt8] = []
    while let piece = try await next() {
      body += piece
      guard body.count > limit else { continue }
      guard isStored else {
        return answer.with(body, rest: ContentStream(trailers: { answer.rest?.trailers ?? answer.trailers }, next))
      }
      // Check the content to its end first: what has been passed on cannot be taken back.
      while try await next() != nil {}
      return answer.with([], rest: ContentStream(pieces(of: answer, codings)))
    }
    return answer.with(body, rest: nil)
  }

  /// The content of `answer` from its beginning, with `codings` removed.
  private func pieces(of answer: URLAnswer, _ codings: [ContentCoding]) -> DecodedContent.Source {
    let source = ContentStream(answer.body, rest: answer.rest)
    let server = HTTPRequest(url: answer.url).authority ?? "the server"
    return DecodedContent.undoing(codings, server: server) { () async throws(CacheError) in try await source.next() }
  }
}

extension Snapshot {
  /// Whether the answer is from the cache, and the origin has not just failed to answer.
  fileprivate var isFromCacheAlone: Bool { source == .cache && !warnings.contains(where: \.mayBeStoodInFor) }
}

extension FetchOptions {
  fileprivate func with(_ policy: FetchPolicy) -> FetchOptions {
    var options = self
    options.policy = policy
    return options
  }
}

extension URLQuery {
  fileprivate func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
}

extension URLAnswer {
  fileprivate func with(_ body: [UInt8], rest: ContentStream?) -> URLAnswer {
    URLAnswer(
      url: url, version: version, status: status, reason: reason, fields: fields, body: body, rest: rest,
      interim: interim, trailers: self.rest?.trailers ?? trailers)
  }
}

extension ContentStream {
  /// Content that begins with `start`, followed by `rest`.
  convenience init(_ start: [UInt8], rest: ContentStream?) {
    let start = Mutex(start.isEmpty ? nil : start)
    self.init { () async throws(CacheError) in
      if let start = start.withLock({ $0.take() }) { return start }
      return try await rest?.next()
    }
  }
}
