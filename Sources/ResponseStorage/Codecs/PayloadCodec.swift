public import CacheDomain
public import StorageSPI

/// How values of one kind are written as payloads and read back.
public struct PayloadCodec<Value: Sendable>: Sendable {
  /// Makes the payload and its media type.
  let encode: @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String)

  /// What a payload was made of.
  let decode: @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Value

  /// The codec of two functions.
  ///
  /// - Parameters:
  ///   - encode: makes the payload and its media type; fails with the code `invalidAnswer` where a value has none.
  ///   - decode: gives back the value; fails with the code `damaged` where the payload cannot have been made by `encode`.
  ///     It may rely on the checksum having been checked.
  public init(
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Value
  ) {
    self.encode = encode
    self.decode = decode
  }
}
