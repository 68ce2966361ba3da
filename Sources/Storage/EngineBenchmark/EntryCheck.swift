internal import CacheBase
internal import EngineAPI

/// Checks the answers of an engine against the written entries. It is a class because each read passes it to the
/// engine: that counts one reference instead of one for each of its parts.
final class EntryCheck: Sendable {
  let ledger: EntryLedger
  let values: EntryValues
  let keys: KeySpace
  let typed: TypedPayload?

  /// How many versions back to look for a wrong value, to report it as stale.
  private static let rememberedVersions: UInt32 = 64

  init(ledger: EntryLedger, values: EntryValues, keys: KeySpace, typed: TypedPayload?) {
    self.ledger = ledger
    self.values = values
    self.keys = keys
    self.typed = typed
  }

  /// Reads the entry under `key`, and checks its bytes in place.
  ///
  /// - Parameter floor: the version that was committed before this call.
  @inline(__always)
  func read(
    _ engine: any StorageEngine, _ key: CacheKey, _ number: Int, floor: UInt32
  ) async throws(CacheError) {
    let found = try await engine.read(key) { payload, metadata throws(CacheError) in
      EntryFault(error: try self.fault(number, payload, metadata, floor: floor))
    }
    guard let found else {
      if floor > 0 { throw .wrongAnswer("\(name(number)) is not there, although it was written") }
      return
    }
    if let fault = found.error { throw fault }
  }

  /// The fault in an entry that was read; `nil` if there is none. Runs while the bytes are borrowed.
  ///
  /// - Parameter floor: the version that was committed when the read began.
  @inline(__always)
  func fault(
    _ number: Int, _ payload: Span<UInt8>, _ metadata: EntryMetadata, floor: UInt32
  ) throws(CacheError) -> CacheError? {
    let tag = values.tag(number, floor)
    if floor > 0, metadata.checksum == tag, isRight(metadata), try holds(payload, number, tag: tag) { return nil }
    return try slowFault(number, payload, metadata, floor: floor)
  }

  /// The fault in a list of at most `limit` entries from number `first` on; `nil` if there is none. Nothing was written
  /// while the engine made the list.
  func fault(_ entries: [ScannedEntry], from first: Int, limit: Int) throws(CacheError) -> CacheError? {
    guard entries.count <= limit else {
      return .wrongAnswer("\(entries.count) entries were listed where \(limit) were requested")
    }
    // The keys of other processes follow the last key of this one.
    let own = min(limit, ledger.count - first)
    for (offset, entry) in entries.prefix(own).enumerated() {
      let number = first + offset
      guard entry.key == (try keys.key(number)) else { return notListed(number) }
      if let fault = fault(entry, number) { return fault }
    }
    return entries.count < own ? notListed(first + entries.count) : nil
  }

  private func fault(_ entry: ScannedEntry, _ number: Int) -> CacheError? {
    guard entry.metadata.checksum == values.tag(number, ledger.committed(number)), isRight(entry.metadata) else {
      return wrongMetadata(number, entry.metadata, floor: ledger.committed(number))
    }
    guard typed != nil || entry.payloadBytes == values.size else {
      return .wrongAnswer("\(name(number)) is listed with \(entry.payloadBytes) bytes")
    }
    return nil
  }

  private func notListed(_ number: Int) -> CacheError {
    .wrongAnswer("\(name(number)) was not listed in its place, although it was written")
  }

  /// The key of the entry for messages.
  private func name(_ number: Int) -> String { "entry " + ((try? keys.key(number).text) ?? "number \(number)") }

  /// Looks for a fault with all versions that the entry can have while another worker is writing it.
  private func slowFault(
    _ number: Int, _ payload: Span<UInt8>, _ metadata: EntryMetadata, floor: UInt32
  ) throws(CacheError) -> CacheError? {
    let possible = max(floor, 1)...max(floor, 1, ledger.begun(number))
    for version in possible where metadata.checksum == values.tag(number, version) {
      guard isRight(metadata) else { return wrongMetadata(number, metadata, floor: floor) }
      return try holds(payload, number, tag: metadata.checksum) ? nil : wrongBytes(number, payload, floor: floor)
    }
    for version in possible where values.isPayload(payload, tag: values.tag(number, version)) {
      return wrongMetadata(number, metadata, floor: floor)
    }
    return wrongBytes(number, payload, floor: floor)
  }

  /// Whether everything except the version is right: both checksums are its tag.
  private func isRight(_ metadata: EntryMetadata) -> Bool {
    let expected = values.metadata
    return metadata.storedAt == expected.storedAt && metadata.freshUntil == expected.freshUntil
      && metadata.retainUntil == expected.retainUntil && metadata.contentType == expected.contentType
      && metadata.attributes.isEmpty && metadata.payloadChecksum == metadata.checksum
  }

  private func holds(_ payload: Span<UInt8>, _ number: Int, tag: UInt64) throws(CacheError) -> Bool {
    if let typed { return try typed.isRight(number, payload) }
    return values.isPayload(payload, tag: tag)
  }

  private func wrongBytes(_ number: Int, _ payload: Span<UInt8>, floor: UInt32) -> CacheError {
    if isStale(number, floor: floor, where: { values.isPayload(payload, tag: $0) }) { return stale(number) }
    return .wrongAnswer("\(name(number)) came back with \(payload.count) bytes that were not written to it")
  }

  private func wrongMetadata(_ number: Int, _ metadata: EntryMetadata, floor: UInt32) -> CacheError {
    if isStale(number, floor: floor, where: { $0 == metadata.checksum }) { return stale(number) }
    return .wrongAnswer("\(name(number)) came back with metadata that was not written to it")
  }

  private func isStale(_ number: Int, floor: UInt32, where isVersion: (UInt64) -> Bool) -> Bool {
    guard floor > 1 else { return false }
    let first = floor > Self.rememberedVersions ? floor - Self.rememberedVersions : 1
    return (first..<floor).contains { isVersion(values.tag(number, $0)) }
  }

  private func stale(_ number: Int) -> CacheError {
    .wrongAnswer("\(name(number)) came back as it was before its last commit")
  }
}

/// The fault in an entry, if there is one.
private struct EntryFault: Sendable {
  let error: CacheError?
}

extension CacheError {
  /// The fault in an impossible answer of an engine: `message` names the key.
  static func wrongAnswer(_ message: String) -> CacheError { CacheError(.wrongAnswer, message) }
}

extension CacheError.Code {
  /// The engine gave an impossible answer.
  static let wrongAnswer = Self(rawValue: "wrongAnswer")
}
