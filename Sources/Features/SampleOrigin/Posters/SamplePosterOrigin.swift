internal import Base
public import CacheData
internal import CacheDomain

/// The posters of the bundled movies: PNG images drawn by the program, each with its own pattern and colours, and with
/// title and year.
///
/// The same request always gives the same bytes.
public struct SamplePosterOrigin: PosterOrigin {
  /// The origin's name, "sample".
  public var name: String { SampleVersion.origin }

  /// True: the sample is part of the program.
  public var isInProcess: Bool { true }

  /// The origin. It has no state and costs nothing.
  public init() {}

  /// The poster for `request`, in its width and half as high again.
  ///
  /// Drawing takes at most a millisecond for narrow posters and about ten for the widest; it does not suspend.
  ///
  /// - Throws: `CacheError`: `notFound` if the path belongs to no movie, `cancelled`, `invalidAnswer` if there is no
  ///   memory to compress the image.
  public func answer(
    to request: PosterRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<PosterDTO> {
    guard let record = Self.record(request.query.path) else {
      throw CacheError(
        .notFound, "the sample has no poster \(request.query.path)",
        hint: "take the posterPath of a movie that 'fetch movies' finds")
    }
    return try SampleAnswer.to(request, conditions) { () throws(CacheError) in
      let image = try PosterPainter.paint(record, width: request.query.width)
      return PosterDTO(bytes: try PNGEncoder.encode(image), contentType: "image/png")
    }
  }

  /// The movie whose poster is at `path`, which is `/<id>.png`.
  private static func record(_ path: String) -> MovieRecord? {
    guard path.hasPrefix("/"), path.hasSuffix(".png") else { return nil }
    let id = path.dropFirst().dropLast(4)
    guard !id.isEmpty, id.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return MovieTable.record(id: String(id))
  }
}
