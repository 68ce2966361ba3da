internal import CacheDomain
internal import StorageSPI

/// How responses of one kind are written as payloads and read back.
struct PayloadCodec<Response: Sendable>: Sendable {
  /// The payload and its media type.
  let encode: @Sendable (Response) throws(CacheError) -> (payload: [UInt8], contentType: String)

  /// What a payload was made of; an error with the code `damaged` where it cannot have been made by `encode`.
  let decode: @Sendable (Span<UInt8>, CacheKey, EntryMetadata) throws(StorageError) -> Response
}
