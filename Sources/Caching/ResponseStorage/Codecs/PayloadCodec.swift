public import FetchVocabulary
public import StorageSPI

/// Encodes the values of one type as payloads, and decodes them.
public struct PayloadCodec<Value: Sendable>: Sendable {
  /// Makes the payload and its media type.
  package let encode: @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String)

  /// Decodes a payload.
  package let decode: @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(CacheError) -> Value

  /// Identifies the codec: one codec's decoded values must not be used for another.
  let identity: CodecIdentity

  /// Creates a codec from two functions.
  ///
  /// Values it has decoded are reused only by this codec and its copies: create it once, not for each read.
  ///
  /// - Parameters:
  ///   - encode: makes the payload and its media type; throws `invalidAnswer` if a value cannot be encoded.
  ///   - decode: decodes the value; throws `damaged` if `encode` cannot have made the payload. It may rely on a checked
  ///     checksum.
  public init(
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(CacheError) -> Value
  ) {
    self.init(CodecIdentity(), encode: encode, decode: decode)
  }

  init(
    _ identity: CodecIdentity,
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(CacheError) -> Value
  ) {
    self.identity = identity
    self.encode = encode
    self.decode = decode
  }
}

/// Distinguishes codecs for values of the same type.
final class CodecIdentity: Sendable {
  /// The identity of every JSON codec: each type has only one.
  static let json = CodecIdentity()
}
