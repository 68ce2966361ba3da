public import CacheDomain

/// The image of a poster as it is stored and transferred: the bytes as they came.
public struct PosterDTO: Sendable, Hashable {
  /// The encoded image.
  public let bytes: [UInt8]
  /// Its media type, such as "image/png".
  public let contentType: String

  /// A poster of the given parts.
  public init(bytes: [UInt8], contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }

  /// The poster that this is the DTO of.
  public func toDomain() -> Poster { Poster(bytes: bytes, contentType: contentType) }
}
