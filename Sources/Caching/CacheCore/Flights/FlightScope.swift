internal import FetchVocabulary
internal import StorageSPI

/// The entries that a flight may store: one of a typed resource, or any variant of a URL.
struct FlightScope {
  /// The whole key of the entry, or the beginning that the keys of all its possible entries share.
  let text: String
  let isWhole: Bool

  /// Reads the scope from the key of a flight, or from the beginning of one that has been cut off.
  init(_ flight: String, isCut: Bool = false) {
    let key = String(flight.prefix { $0 != " " })
    let start = EngineHTTPResponseStorage.variantStart
    let variant =
      key.hasPrefix("url/") ? key.utf8.indices.first { key.utf8[$0...].starts(with: start.utf8) } : nil
    text = variant.map { String(key[..<$0]) + start } ?? key
    isWhole = variant == nil && !isCut
  }

  /// Whether the flight may store an entry under `key`.
  func contains(_ key: String) -> Bool { isWhole ? key == text : key.hasPrefix(text) }

  /// Whether the flight may store an entry whose key begins with `prefix`.
  func meets(prefix: String) -> Bool { text.hasPrefix(prefix) || !isWhole && prefix.hasPrefix(text) }

  /// Whether the flight may store an entry that `selection` selects by its key. Before the answer has arrived, the
  /// variant of a URL counts as the usual one.
  func meets(_ selection: EntrySelection) -> Bool {
    guard let prefix = selection.keyPrefix, meets(prefix: prefix) else { return false }
    guard let pattern = selection.pattern else { return true }
    if isWhole { return pattern.matches(text) }
    return !text.hasSuffix(EngineHTTPResponseStorage.variantStart)
      || pattern.matches(text + EngineHTTPResponseStorage.usualVariant)
  }
}

extension EntryStore {
  /// Ends the flights for which `isChanged` returns `true`, in this process and in others: what they fetch is not stored,
  /// and later callers do not wait for it. Call it before what has changed is removed or made stale.
  ///
  /// The leader of a flight stores its answer only if its lease is still there, and other processes do not wait for a
  /// lease that is gone. So removing the lease is all that other processes need. A lease that cannot be listed because of
  /// damage, or because a server of the store cannot be reached, stays.
  ///
  /// - Throws: `CacheError`: the engine failed. The flights of this process have ended all the same.
  func endFlights(_ isChanged: (FlightScope) -> Bool) async throws(CacheError) {
    await underWay.outdate { isChanged(FlightScope($0)) }
    var (batch, request) = (WriteBatch(), ScanRequest(prefix: Lease.flightPrefix))
    repeat {
      let page = try await leases(request)
      for lease in page.entries where Lease.scope(of: lease.key).map(isChanged) == true { batch.remove(lease.key) }
      request.position = page.next
    } while request.position != nil
    if !batch.operations.isEmpty { try await engine.apply(batch) }
    // Some may have begun since.
    await underWay.outdate { isChanged(FlightScope($0)) }
  }

  /// Ends the flights that may store an entry under one of `keys`; see `endFlights(_:)`.
  func endFlights(of keys: [CacheKey]) async throws(CacheError) {
    let texts = Set(keys.map(\.text))
    try await endFlights { scope in
      scope.isWhole ? texts.contains(scope.text) : texts.contains { scope.contains($0) }
    }
  }

  private func leases(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    do throws(CacheError) {
      return try await engine.scan(request)
    } catch {
      guard error.isOfOneEntry || error.code == .unsupportedFormat || error.code == .unreachable else { throw error }
      return ScanPage()
    }
  }
}

extension EntrySelection {
  /// Whether an entry that is stored now would be selected, so that an answer under way is.
  var selectsNewEntries: Bool { state ?? .fresh == .fresh && minimumAge == nil }

  /// Whether only the selected entries tell which flights to end: the selection depends on their state or age, or its
  /// pattern may match a variant of a URL that is not the usual one.
  var selectsFlightsByEntry: Bool { !selectsNewEntries || pattern != nil }
}
