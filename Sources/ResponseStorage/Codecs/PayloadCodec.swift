public import CacheDomain
public import StorageSPI

/// How values of one kind are written as payloads and read back.
public struct PayloadCodec<Value: Sendable>: Sendable {
  /// Makes the payload and its media type.
  let encode: @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String)

  /// What a payload was made of.
  let decode: @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Value

  /// Which codec it is: what one has decoded is not used in place of what another would decode.
  let identity: CodecIdentity

  /// The codec of two functions.
  ///
  /// What it has decoded is used again only by itself and its copies: make it once, not for each read.
  ///
  /// - Parameters:
  ///   - encode: makes the payload and its media type; fails with the code `invalidAnswer` where a value has none.
  ///   - decode: gives back the value; fails with the code `damaged` where the payload cannot have been made by `encode`.
  ///     It may rely on the checksum having been checked.
  public init(
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Value
  ) {
    self.init(CodecIdentity(), encode: encode, decode: decode)
  }

  init(
    _ identity: CodecIdentity,
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Value
  ) {
    self.identity = identity
    self.encode = encode
    self.decode = decode
  }
}

/// Tells codecs of values of the same type from each other.
final class CodecIdentity: Sendable {
  /// That of the only codec that decodes a type's JSON.
  static let json = CodecIdentity()
}
