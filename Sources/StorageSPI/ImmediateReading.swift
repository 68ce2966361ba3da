/// An engine whose reads never wait: neither for a disk or a network, nor for more than a short lock.
///
/// It is what makes reads through a C interface cheap (see `StoragePluginExport`): they need neither a task nor a text
/// made of the key. Everybody else reads by `read(_:_:)`.
public protocol ImmediateReading: StorageEngine {
  /// Does what `read(_:_:)` does, at once. It is not generic, so that no metadata of types is looked up.
  ///
  /// - Parameters:
  ///   - keyBytes: the bytes of a key's text. That they are one's the caller has made sure of.
  ///   - body: called once if there is an entry, under the same conditions.
  /// - Returns: whether there is an entry.
  /// - Throws: `StorageError`, as `read(_:_:)` does.
  func readNow(
    keyBytes: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool
}
