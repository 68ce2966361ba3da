package import EngineAPI
internal import Synchronization

/// The decoded values of a store's entries, reused as long as the entries stay the same.
///
/// Each use checks that with the engine. If the engine has a change count, the check reads nothing; otherwise the entry
/// is read and verified again, but not decoded.
final class DecodedEntries: Sendable {
  let table: Mutex<DecodedTable>

  /// Creates an empty cache.
  init(_ limits: DecodedLimits) { table = Mutex(DecodedTable(limits)) }

  /// The value that `codec` decoded from the entry under `key`, whose digest is `digest`, and the change count at which it
  /// was kept; `nil` if that was unknown.
  func find<Value: Sendable>(
    _ key: CacheKey, _ digest: UInt64, _ codec: String
  ) -> (kept: Decoded<Value>, changeCount: UInt64?)? {
    guard let found = table.withLock({ $0.use(key, digest) }), found.entry.codec == codec,
      let kept = found.entry as? Decoded<Value>
    else { return nil }
    return (kept, found.changeCount)
  }

  /// Forgets all decoded entries.
  func removeAll() { table.withLock { $0 = DecodedTable($0.limits) } }
}

/// How many decoded values an `EntryStore` keeps in memory. Once that is reached, a new entry gets in only when it is
/// read for the second time, and replaces one that has not been used for a while.
public struct DecodedLimits: Sendable, Hashable {
  /// The number of entries, 0 or more; with 0, every read decodes.
  public let maxEntries: Int
  /// The total size of their payloads in bytes, 0 or more. A decoded page of movies takes about twice the memory of its
  /// payload.
  public let maxBytes: Int

  /// Creates limits.
  public init(maxEntries: Int, maxBytes: Int) {
    self.maxEntries = maxEntries
    self.maxBytes = maxBytes
  }

  /// 1,024 entries and 16 MiB.
  public static let standard = DecodedLimits(maxEntries: 1_024, maxBytes: 16 << 20)

  /// Keeps nothing.
  public static let none = DecodedLimits(maxEntries: 0, maxBytes: 0)
}

extension EntryStore {
  /// The result of `decoded(_:_:_:)`, if that needs no read: the entry is decoded, the engine confirms that nothing has
  /// changed since, and the entry has not expired. Otherwise `nil`.
  ///
  /// Counts a hit, if `isUsed` returns `true` for the value; otherwise the result is `nil` too. Cost: a fraction of a
  /// microsecond, without a wait, so that a caller need not leave its actor.
  ///
  /// - Throws: `CacheError`: the same as a read.
  package func kept<Value: Sendable>(
    _ key: CacheKey, _ codec: String, where isUsed: (Decoded<Value>) -> Bool = { _ in true }
  ) throws(CacheError) -> Decoded<Value>? {
    let digest = AccessRecord.digest(of: key)
    // Without a count, this is the entry's second read: the engine might have to open a file to count changes.
    guard let decodedEntries, let (kept, then): (Decoded<Value>, UInt64?) = decodedEntries.find(key, digest, codec),
      let then, try engine.changeCount() == then, kept.metadata.state(at: clock.now) != .expired, isUsed(kept)
    else { return nil }
    countLookUp(digest: digest)
    return kept
  }

  /// The largest payload in bytes that `decodedNow(_:_:_:)` decodes. Foundation's coder takes about seventy microseconds for
  /// so much JSON.
  package static let smallPayload = 4_096

  /// The result of `decoded(_:_:_:)`, if the engine can read the entry without a wait, and it is small and stored without
  /// transforms; otherwise `nil`. So a caller need not leave its actor, and does not hold it up either.
  ///
  /// - Throws: `CacheError`: the same as `decoded(_:_:_:)`.
  func decodedNow<Value: Sendable>(
    _ key: CacheKey, _ codec: String,
    _ decode: (Span<UInt8>, EntryMetadata, _ earlier: Value?) throws(CacheError) -> Value
  ) throws(CacheError) -> Decoded<Value>?? {
    // An engine with tiers counts each read.
    guard tiered == nil else { return nil }
    let (now, digest) = (clock.now, AccessRecord.digest(of: key))
    let found: (kept: Decoded<Value>, changeCount: UInt64?)? = decodedEntries?.find(key, digest, codec)
    let count = found == nil ? nil : try engine.changeCount()
    var current: Decoded<Value>?
    var isSmall = true
    let isThere = try engine.readNow(key.text.utf8Span.span) { bytes, metadata throws(CacheError) in
      isSmall = bytes.count <= Self.smallPayload && metadata.transforms == nil
      guard isSmall else { return }
      current = try transforms.decoded(bytes, metadata, (key, digest, codec), at: now, found?.kept, decode)
    }
    guard isThere != nil, isSmall else { return nil }
    keep(current, digest, changeCount: count)
    return .some(current)
  }

  /// The value that `decode` makes, or has made before, from the entry under `key`; `nil` if there is none, or an
  /// expired one. Each call checks the expiry by the clock.
  ///
  /// A decoded value is reused without reading the entry only if the engine confirms that nothing has changed, and
  /// otherwise if the entry that is read has not. A failed read is a failure: no kept value replaces it.
  ///
  /// - Parameters:
  ///   - codec: distinguishes `decode` from other functions whose values have the same type.
  ///   - decode: makes the value of the payload and the metadata. If the metadata alone is new, it gets the earlier value,
  ///     and must not use the bytes: they are not decoded again, and no transform is undone.
  /// - Throws: `CacheError`: what `decode` throws; `damaged` if the entry is not intact.
  func decoded<Value: Sendable>(
    _ key: CacheKey, _ codec: String,
    _ decode: @Sendable (Span<UInt8>, EntryMetadata, _ earlier: Value?) throws(CacheError) -> Value
  ) async throws(CacheError) -> Decoded<Value>? {
    let (now, digest) = (clock.now, AccessRecord.digest(of: key))
    let found: (kept: Decoded<Value>, changeCount: UInt64?)? = decodedEntries?.find(key, digest, codec)
    // Get the count before the read, so that the value read belongs to this count or a later one. Only for entries
    // read again: an engine might have to open a file for it, which a process that reads one entry should not pay for.
    let count = found == nil ? nil : try engine.changeCount()
    if let found, let count, count == found.changeCount {
      return found.kept.metadata.state(at: now) == .expired ? nil : found.kept
    }
    let read = try await engine.read(key) { [transforms] bytes, metadata throws(CacheError) -> Decoded<Value>? in
      try transforms.decoded(bytes, metadata, (key, digest, codec), at: now, found?.kept, decode)
    }
    let current = read ?? nil
    keep(current, digest, changeCount: count)
    return current
  }

  /// Keeps what a read has found, for later reads.
  private func keep(_ current: DecodedEntry?, _ digest: UInt64, changeCount: UInt64?) {
    decodedEntries?.table.withLock { table in
      if let current { table.keep(current, changeCount: changeCount) } else { table.remove(digest) }
    }
  }
}

extension TransformPipeline {
  /// The value that `decode` makes of an entry that an engine lends, or `kept`, if that is the value of the same entry; `nil`
  /// if it has expired.
  ///
  /// - Throws: `CacheError`: what `decode` throws; `damaged` if the entry is not intact.
  fileprivate func decoded<Value: Sendable>(
    _ bytes: Span<UInt8>, _ metadata: EntryMetadata, _ entry: (key: CacheKey, digest: UInt64, codec: String),
    at now: Timestamp, _ kept: Decoded<Value>?,
    _ decode: (Span<UInt8>, EntryMetadata, _ earlier: Value?) throws(CacheError) -> Value
  ) throws(CacheError) -> Decoded<Value>? {
    let isPlain = try metadata.verify(key: entry.key, payload: bytes) && servesPlain
    if metadata.state(at: now) == .expired { return nil }
    func made(
      _ payload: Span<UInt8>, _ opened: EntryMetadata, _ earlier: Decoded<Value>? = nil
    ) throws(CacheError) -> Decoded<Value> {
      Decoded(
        try decode(payload, opened, earlier?.value), key: entry.key, digest: entry.digest, metadata: opened,
        transforms: isPlain ? nil : metadata.transforms, payloadBytes: earlier?.payloadBytes ?? payload.count,
        codec: entry.codec)
    }
    if let kept {
      if kept.metadata.checksum == metadata.checksum { return kept }
      // A 304 has renewed it.
      if kept.isOfPayload(of: metadata) {
        return try made(bytes, isPlain ? metadata : revealed(metadata, key: entry.key), kept)
      }
    }
    if isPlain { return try made(bytes, metadata) }
    let opened = try opened(bytes, metadata, key: entry.key)
    return try made(opened.payload.span, opened.metadata)
  }
}

/// The facts about a decoded entry, without its value.
///
/// It is `@unchecked Sendable` because the compiler cannot check classes with subclasses: all properties of this class
/// and of its only subclass are constant and Sendable.
package class DecodedEntry: @unchecked Sendable {
  let key: CacheKey
  /// The digest of the key, see `AccessRecord`.
  let digest: UInt64
  /// The metadata without the record of the transforms.
  package let metadata: EntryMetadata
  /// That record.
  private let transforms: String?
  let payloadBytes: Int
  let codec: String

  init(
    key: CacheKey, digest: UInt64, metadata: EntryMetadata, transforms: String? = nil, payloadBytes: Int, codec: String
  ) {
    self.key = key
    self.digest = digest
    self.metadata = metadata
    self.transforms = transforms
    self.payloadBytes = payloadBytes
    self.codec = codec
  }

  /// Whether an entry that is stored with `metadata` has the same payload, and a codec would decode it in the same way.
  func isOfPayload(of metadata: EntryMetadata) -> Bool {
    self.metadata.payloadChecksum == metadata.payloadChecksum && self.metadata.contentType == metadata.contentType
      && transforms == metadata.transforms
  }
}

/// A value, with the facts about the entry that it was decoded from.
package final class Decoded<Value: Sendable>: DecodedEntry, @unchecked Sendable {
  package let value: Value

  init(
    _ value: Value, key: CacheKey, digest: UInt64, metadata: EntryMetadata, transforms: String? = nil,
    payloadBytes: Int, codec: String
  ) {
    self.value = value
    super.init(
      key: key, digest: digest, metadata: metadata, transforms: transforms, payloadBytes: payloadBytes, codec: codec)
  }
}

/// Decoded entries by the digests of their keys, within limits.
///
/// Once the table is full, an entry gets in only when it comes for the second time, and takes the place of one that was not
/// used since the hand passed it, which goes round the table (the CLOCK algorithm). So a walk over many entries that are
/// read once does not displace entries that are read again and again, and does not pay for keeping what it will not use.
/// If two keys share a digest, which is next to impossible, the later one replaces the other.
struct DecodedTable {
  private struct Slot {
    let entry: DecodedEntry
    let changeCount: UInt64?
    var isUsed: Bool
  }

  /// How many rejected digests to remember. A later digest replaces an earlier one with the same last bits. A power of
  /// two.
  private static let rejectedCount = 4_096

  let limits: DecodedLimits
  private var places: [UInt64: Int] = [:]
  private var slots: [Slot] = []
  private var hand = 0
  private var rejected: [UInt64] = []
  private(set) var payloadBytes = 0

  init(_ limits: DecodedLimits) { self.limits = limits }

  /// The number of entries kept.
  var count: Int { slots.count }

  /// The entry under `key`, whose digest is `digest`, and the change count at which it was kept. Counts as a use.
  mutating func use(_ key: CacheKey, _ digest: UInt64) -> (entry: DecodedEntry, changeCount: UInt64?)? {
    guard let place = places[digest], slots[place].entry.key == key else { return nil }
    if !slots[place].isUsed { slots[place].isUsed = true }
    return (slots[place].entry, slots[place].changeCount)
  }

  /// Keeps `entry`, and replaces any entry under its key.
  mutating func keep(_ entry: DecodedEntry, changeCount: UInt64?) {
    let wasKept = remove(entry.digest)
    guard entry.payloadBytes <= limits.maxBytes, limits.maxEntries > 0 else { return }
    guard wasKept || hasRoom(for: entry) || noteRejection(of: entry.digest) else { return }
    while !hasRoom(for: entry) { evict() }
    places[entry.digest] = slots.count
    slots.append(Slot(entry: entry, changeCount: changeCount, isUsed: wasKept))
    payloadBytes += entry.payloadBytes
  }

  /// Removes the entry under the key with the digest `digest`, and returns whether there was one.
  @discardableResult
  mutating func remove(_ digest: UInt64) -> Bool {
    guard let place = places.removeValue(forKey: digest) else { return false }
    payloadBytes -= slots[place].entry.payloadBytes
    let last = slots.removeLast()
    if place < slots.count {
      slots[place] = last
      places[last.entry.digest] = place
    }
    return true
  }

  private func hasRoom(for entry: DecodedEntry) -> Bool {
    count < limits.maxEntries && payloadBytes <= limits.maxBytes - entry.payloadBytes
  }

  /// Remembers that an entry with the digest `digest` was rejected, and returns whether one was before.
  private mutating func noteRejection(of digest: UInt64) -> Bool {
    // Allocates nothing before the table is full. Digest zero counts as rejected from the start, which does no harm.
    if rejected.isEmpty { rejected = Array(repeating: 0, count: Self.rejectedCount) }
    let place = Int(truncatingIfNeeded: digest) & (Self.rejectedCount - 1)
    defer { rejected[place] = digest }
    return rejected[place] == digest
  }

  private mutating func evict() {
    repeat {
      hand = (hand + 1) % slots.count
      if !slots[hand].isUsed { break }
      slots[hand].isUsed = false
    } while true
    remove(slots[hand].entry.digest)
  }
}
