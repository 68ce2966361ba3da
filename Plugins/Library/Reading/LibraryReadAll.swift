internal import CCachectlPlugin
internal import StorageSPI

/// What a read of several entries has found so far.
struct LibraryReadAll: LibraryCallState {
  private let keys: [CacheKey]
  /// The result for each key; `nil` if the library says that the entry cannot be read back.
  private(set) var results: [Result<ReadEntry?, CacheError>?]
  private var isVisited: [Bool]
  var defect: LibraryDefect?

  init(_ keys: [CacheKey]) {
    self.keys = keys
    results = keys.map { _ in .success(nil) }
    isVisited = keys.map { _ in false }
  }

  fileprivate static let callback:
    @convention(c) (UnsafeMutableRawPointer?, Int, UnsafePointer<cachectl_entry>?) -> Int32 = { context, index, entry in
      guard let read = LibraryCall.state(context, .readAll, LibraryReadAll.self) else { return LibraryCall.stop }
      return read.pointee.visiting { read throws(LibraryDefect) in try read.visit(index, entry) }
    }

  private mutating func visit(
    _ index: Int, _ entry: UnsafePointer<cachectl_entry>?
  ) throws(LibraryDefect) {
    guard keys.indices.contains(index) else {
      throw LibraryDefect("gave entry \(UInt(bitPattern: index)) of the \(keys.count) that it was asked for")
    }
    if isVisited[index] { throw LibraryDefect("gave more than one entry for one key") }
    isVisited[index] = true
    results[index] = entry == nil ? nil : .success(try copy(of: LibraryEntry(entry), keys[index]))
  }

  private func copy(of entry: LibraryEntry, _ key: CacheKey) throws(LibraryDefect) -> ReadEntry {
    let isAsked = key.text.utf8Span.span.withUnsafeBytes { entry.hasKey($0) }
    guard isAsked else { throw LibraryDefect("gave another entry than the one it was asked for") }
    return ReadEntry(payload: Array(try entry.payload()), metadata: try entry.metadata())
  }
}

extension LibraryStore {
  /// Copies of the entries under `keys`.
  ///
  /// - Throws: `CacheError`: the library's error; `failed` if it broke a rule.
  func read(
    _ keys: [CacheKey], _ readAll: LibraryFunctions.ReadAll
  ) throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let lent = arena.array(of: cachectl_bytes(), count: keys.count)
    for (index, key) in keys.enumerated() { lent[index] = arena.copy(key.text) }
    var state = LibraryReadAll(keys)
    try LibraryCall.make(.readAll, table, &state) { context, failure in
      readAll(handle, lent.baseAddress, lent.count, LibraryReadAll.callback, context, failure)
    }
    var results: [Result<ReadEntry?, CacheError>] = []
    for (key, result) in zip(keys, state.results) {
      if let result { results.append(result) } else { results.append(try read(key)) }
    }
    return results
  }

  /// Reads the entry under `key` on its own, after the library could not read it back with the others.
  private func read(_ key: CacheKey) throws(CacheError) -> Result<ReadEntry?, CacheError> {
    do throws(CacheError) {
      return .success(try copy(of: key))
    } catch {
      guard error.isUnreadableEntry else { throw error }
      return .failure(error)
    }
  }
}
