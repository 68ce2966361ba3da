internal import StorageSPI

/// The facts about a decoded entry, without its value.
///
/// It is `@unchecked Sendable` because the compiler cannot check classes with subclasses: all properties of this class
/// and of its only subclass are constant and Sendable.
class DecodedEntry: @unchecked Sendable {
  let key: CacheKey
  /// The digest of the key, see `AccessRecord`.
  let digest: UInt64
  let metadata: EntryMetadata
  let payloadBytes: Int
  let codec: CodecIdentity

  init(key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: CodecIdentity) {
    (self.key, self.digest, self.metadata) = (key, digest, metadata)
    (self.payloadBytes, self.codec) = (payloadBytes, codec)
  }

  /// Whether it was decoded from the same entry as one with this metadata, whose checksum has been checked.
  func isSame(_ metadata: EntryMetadata, payloadBytes: Int) -> Bool {
    self.payloadBytes == payloadBytes && self.metadata == metadata
  }
}

/// A value, with the facts about the entry that it was decoded from.
final class Decoded<Value: Sendable>: DecodedEntry, @unchecked Sendable {
  let value: Value

  init(
    _ value: Value, key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: CodecIdentity
  ) {
    self.value = value
    super.init(key: key, digest: digest, metadata: metadata, payloadBytes: payloadBytes, codec: codec)
  }
}
