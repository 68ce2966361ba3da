public import CacheDomain

/// A poster as it is stored and transferred: the bytes as they arrived.
public struct PosterDTO: Sendable, Hashable {
  /// The encoded image.
  public let bytes: [UInt8]
  /// Its media type, such as "image/png".
  public let contentType: String

  /// Creates the DTO of a poster.
  public init(bytes: [UInt8], contentType: String) {
    self.bytes = bytes
    self.contentType = contentType
  }

  /// The poster as the domain represents it.
  public func toDomain() -> Poster { Poster(bytes: bytes, contentType: contentType) }
}
