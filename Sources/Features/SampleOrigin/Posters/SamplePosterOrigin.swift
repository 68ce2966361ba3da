internal import CacheBase
internal import CSampleData
public import CacheData
public import CacheDomain

/// The posters of the bundled movies: one of three pictures, which the path chooses, whatever the width.
public struct SamplePosterOrigin: PosterOrigin {
  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The poster for `request`. It does not suspend.
  ///
  /// - Throws: `CacheError`: `notFound` if the path belongs to no movie, `cancelled`.
  public func answer(
    to request: PosterRequestDTO, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<Poster> {
    let path = request.query.path
    guard let id = Self.movie(path), MovieTable.record(id: id) != nil else {
      throw CacheError(
        .notFound, "the sample has no poster \(path)",
        hint: "take the posterPath of a movie that 'fetch movies' finds")
    }
    return try SampleAnswer.to(request, conditions) {
      let picture = EmbeddedText(csample_poster(FNV1a.hash(path.utf8)))
      return Poster(bytes: Array(picture.bytes), contentType: "image/png")
    }
  }

  /// The identifier of the movie whose poster is at `path`, which is `/<id>.png`.
  private static func movie(_ path: String) -> String? {
    guard path.hasPrefix("/"), path.hasSuffix(".png") else { return nil }
    let id = path.dropFirst().dropLast(4)
    return !id.isEmpty && id.utf8.allSatisfy(\.isASCIIDigit) ? String(id) : nil
  }
}
