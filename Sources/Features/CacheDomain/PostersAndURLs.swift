public import HTTPCaching

/// A source of posters.
public protocol PosterImagesRepository: Sendable {
  /// Fetches the poster that `query` describes, as `options` say.
  func poster(_ query: PosterQuery, options: FetchOptions) -> Snapshots<Poster>
}

/// The image of a movie's poster.
public struct Poster: Sendable, Hashable {
  /// The encoded image.
  public let bytes: [UInt8]
  /// Its media type, such as "image/png".
  public let contentType: String

  /// Creates a poster.
  public init(bytes: [UInt8], contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }
}

/// Which poster to fetch, and how wide.
public struct PosterQuery: Sendable, Hashable {
  /// The available widths in pixels, ascending (those of the public API).
  public static let widths = [92, 154, 185, 342, 500, 780]

  /// The path of the poster, as a movie names it, beginning with a slash.
  public let path: String
  /// The width in pixels, one of `widths`.
  public let width: Int

  /// Creates a query for the poster at `path`, in the available width nearest to `width`. Of two equally near widths it
  /// takes the larger.
  public init(path: String, width: Int = 342) {
    self.path = path.hasPrefix("/") ? path : "/" + path
    // Clamp first, so that the distances cannot overflow.
    let wanted = min(max(width, 0), 1_000)
    self.width = Self.widths.reversed().min { abs($0 - wanted) < abs($1 - wanted) } ?? 342
  }
}

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
