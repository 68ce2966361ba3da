internal import StorageSPI

/// What an entry was when it was decoded, without the value.
///
/// It is `@unchecked Sendable` because classes that have subclasses cannot be checked: all that it and its only subclass
/// have is constant and Sendable.
class DecodedEntry: @unchecked Sendable {
  let key: CacheKey
  /// The digest of the key, see `UseRecord`.
  let digest: UInt64
  let metadata: EntryMetadata
  let payloadBytes: Int
  let codec: CodecIdentity

  init(key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: CodecIdentity) {
    (self.key, self.digest, self.metadata) = (key, digest, metadata)
    (self.payloadBytes, self.codec) = (payloadBytes, codec)
  }

  /// Whether it was decoded from an entry that is the same as one with this metadata, whose checksum was checked.
  func isSame(_ metadata: EntryMetadata, payloadBytes: Int) -> Bool {
    self.payloadBytes == payloadBytes && self.metadata == metadata
  }
}

/// A value and the entry that it was decoded from.
final class Decoded<Value: Sendable>: DecodedEntry, @unchecked Sendable {
  let value: Value

  init(
    _ value: Value, key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: CodecIdentity
  ) {
    self.value = value
    super.init(key: key, digest: digest, metadata: metadata, payloadBytes: payloadBytes, codec: codec)
  }
}
