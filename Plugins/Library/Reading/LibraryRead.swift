internal import CCachectlPlugin
internal import StorageSPI

/// The state of a read of one entry.
struct LibraryRead: LibraryCallState {
  private let key: UnsafeRawBufferPointer
  private let body: (Span<UInt8>, EntryMetadata) -> CacheError?
  private var isVisited = false
  var defect: LibraryDefect?
  private(set) var thrown: CacheError?

  init(_ key: UnsafeRawBufferPointer, _ body: @escaping (Span<UInt8>, EntryMetadata) -> CacheError?) {
    self.key = key
    self.body = body
  }

  fileprivate static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_entry>?) -> Int32 =
    {
      guard let read = LibraryCall.state($0, .read, LibraryRead.self) else { return LibraryCall.stop }
      return read.pointee.visit($1)
    }

  private mutating func visit(_ entry: UnsafePointer<cachectl_entry>?) -> Int32 {
    do throws(LibraryDefect) {
      if isVisited { throw LibraryDefect("gave more than one entry for one key") }
      isVisited = true
      let entry = try LibraryEntry(entry)
      guard entry.hasKey(key) else { throw LibraryDefect("gave another entry than the one it was asked for") }
      let payload = try entry.payload().assumingMemoryBound(to: UInt8.self)
      thrown = body(payload.span, try entry.metadata())
    } catch {
      defect = error
    }
    return defect == nil && thrown == nil ? LibraryCall.goOn : LibraryCall.stop
  }
}

extension LibraryStore {
  /// Lends the entry under `key` to `body`, if there is one. If `body` returns an error, this throws it.
  ///
  /// This is the hot path. It is not generic, which saves looking up type metadata.
  func read(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) -> CacheError?
  ) throws(CacheError) {
    let text = key.text
    try text.utf8Span.span.withUnsafeBytes { bytes throws(CacheError) in
      try withoutActuallyEscaping(body) { body throws(CacheError) in
        var state = LibraryRead(bytes, body)
        let lent = cachectl_bytes(data: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), length: bytes.count)
        try LibraryCall.make(.read, table, &state) { context, failure in
          table.functions.read(handle, lent, LibraryRead.callback, context, failure)
        }
      }
    }
  }

  /// A copy of the entry under `key`; `nil` if there is none. It is for libraries whose reads wait: copying is much
  /// faster than waiting.
  func copy(of key: CacheKey) throws(CacheError) -> ReadEntry? {
    var found: ReadEntry?
    try read(key) { payload, metadata in
      let bytes = payload.withUnsafeBufferPointer { [UInt8]($0) }
      found = ReadEntry(payload: bytes, metadata: metadata)
      return nil
    }
    return found
  }
}
