internal import CacheBase
internal import EngineAPI

/// Checks the answers of an engine against what was written. It is a class because each read lends it to the engine:
/// that counts one reference instead of one for each of its parts.
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

  /// The fault in an entry that was read; `nil` if there is none. Runs while the bytes are lent.
  ///
  /// - Parameter floor: the version that was committed when the read began.
  @inline(__always)
  func fault(
    _ number: Int, _ payload: Span<UInt8>, _ metadata: EntryMetadata, floor: UInt32
  ) throws(CacheError) -> CacheError? {
    let tag = values.tag(number, floor)
    if floor > 0, metadata.checksum == tag, isRight(metadata, number), try holds(payload, number, tag: tag) {
      return values.isExpired(number) && ledger.isCompacted ? stillThere(number) : nil
    }
    return try slowFault(number, payload, metadata, floor: floor)
  }

  /// The fault in the absence of an entry; `nil` if it may be absent.
  func faultOfAbsence(_ number: Int, floor: UInt32) -> CacheError? {
    guard floor > 0, !values.isExpired(number) else { return nil }
    return .wrongAnswer("\(name(number)) is not there, although it was written")
  }

  /// The fault in an entry that a scan listed; `nil` if there is none.
  func fault(_ entry: ScannedEntry, _ number: Int, floor: UInt32) -> CacheError? {
    for version in versions(number, floor: floor) {
      let tag = values.tag(number, version)
      guard entry.metadata.checksum == tag else { continue }
      guard isRight(entry.metadata, number) else { break }
      guard typed != nil || entry.payloadBytes == values.size else {
        return .wrongAnswer("\(name(number)) is listed with \(entry.payloadBytes) bytes")
      }
      return nil
    }
    return wrongMetadata(number, entry.metadata, floor: floor)
  }

  /// The key of the entry for messages.
  func name(_ number: Int) -> String { "entry " + ((try? keys.key(number).text) ?? "number \(number)") }

  private func stillThere(_ number: Int) -> CacheError {
    .wrongAnswer("\(name(number)) is still there, although it had expired when the store was compacted")
  }

  /// Looks for a fault with all versions that the entry may have while another worker is writing it.
  private func slowFault(
    _ number: Int, _ payload: Span<UInt8>, _ metadata: EntryMetadata, floor: UInt32
  ) throws(CacheError) -> CacheError? {
    let possible = versions(number, floor: floor)
    for version in possible where metadata.checksum == values.tag(number, version) {
      guard isRight(metadata, number) else { return wrongMetadata(number, metadata, floor: floor) }
      return try holds(payload, number, tag: metadata.checksum) ? nil : wrongBytes(number, payload, floor: floor)
    }
    for version in possible where values.isPayload(payload, tag: values.tag(number, version)) {
      return wrongMetadata(number, metadata, floor: floor)
    }
    return wrongBytes(number, payload, floor: floor)
  }

  /// The versions that may be read, if reading began at `floor`.
  private func versions(_ number: Int, floor: UInt32) -> ClosedRange<UInt32> {
    max(floor, 1)...max(floor, 1, ledger.begun(number))
  }

  private func isRight(_ metadata: EntryMetadata, _ number: Int) -> Bool {
    values.isExpired(number)
      ? Self.isSame(metadata, values.expiredMetadata) : Self.isSame(metadata, values.metadata)
  }

  /// Whether everything except the version is equal: both checksums are its tag.
  private static func isSame(_ metadata: EntryMetadata, _ expected: EntryMetadata) -> Bool {
    metadata.storedAt == expected.storedAt && metadata.freshUntil == expected.freshUntil
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

extension EntryCheck {
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
    if let fault = found == nil ? faultOfAbsence(number, floor: floor) : found?.error { throw fault }
  }
}

/// The fault in an entry, if there is one.
private struct EntryFault: Sendable {
  let error: CacheError?
}

extension CacheError {
  /// The fault in an impossible answer of an engine: `message` names the key.
  static func wrongAnswer(_ message: String) -> CacheError { CacheError(.wrongAnswer, message) }

  /// The run was cancelled.
  static var cancelledRun: CacheError { CacheError(.cancelled, "the run was cancelled") }
}

extension CacheError.Code {
  /// The engine gave an impossible answer.
  static let wrongAnswer = Self(rawValue: "wrongAnswer")
}

/// What a scan must list: every entry that was committed before it began, in order, and no entry that was never
/// written.
struct ScanExpectation {
  private let check: EntryCheck
  private let first: Int
  private let limit: Int
  /// The committed versions, when the scan began, of the entries that it may list.
  private let floors: [UInt32]

  init(_ check: EntryCheck, first: Int, limit: Int) {
    self.check = check
    self.first = first
    self.limit = limit
    floors = (first..<max(first, min(first + limit, check.ledger.capacity))).map { check.ledger.committed($0) }
  }

  /// The fault in the list; `nil` if there is none.
  func fault(_ entries: [ScannedEntry]) -> CacheError? {
    guard entries.count <= limit else {
      return .wrongAnswer("\(entries.count) entries were listed where \(limit) were asked for")
    }
    var next = first
    for entry in entries {
      // The keys of other shares follow the last key of this one.
      guard let number = check.keys.number(of: entry.key), number < check.ledger.capacity else { break }
      guard number >= next else { return .wrongAnswer("entry \(entry.key) was listed out of order") }
      if let lost = lost(next..<number) { return lost }
      if let fault = check.fault(entry, number, floor: floor(number)) { return fault }
      next = number + 1
    }
    return lost(next..<max(next, min(first + limit, check.ledger.capacity)), unless: entries.count == limit)
  }

  private func lost(_ numbers: Range<Int>, unless isFull: Bool = false) -> CacheError? {
    guard !isFull, let number = numbers.first(where: { floor($0) > 0 }) else { return nil }
    return .wrongAnswer("\(check.name(number)) was not listed, although it was written")
  }

  /// Entries beyond the recorded ones need not exist.
  private func floor(_ number: Int) -> UInt32 { number - first < floors.count ? floors[number - first] : 0 }
}
