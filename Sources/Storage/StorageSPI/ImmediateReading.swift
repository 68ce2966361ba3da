/// An engine whose reads never wait, neither for a disk or a network nor for more than a short lock.
///
/// It makes reads through a C interface cheap (see `StoragePluginExport`): they need neither a task nor a key text. All
/// other callers use `read(_:_:)`.
public protocol ImmediateReading: StorageEngine {
  /// Does what `read(_:_:)` does, synchronously. It is not generic, which saves looking up type metadata.
  ///
  /// - Parameters:
  /// - keyBytes: the bytes of a key's text, which the caller has validated.
  ///   - body: called once if there is an entry, under the same conditions as in `read(_:_:)`.
  /// - Returns: whether there is an entry.
  /// - Throws: `CacheError`, as `read(_:_:)` does.
  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool
}
