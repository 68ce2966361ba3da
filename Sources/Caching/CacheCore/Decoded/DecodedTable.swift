package import EngineAPI

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
  let payloadBytes: Int
  let codec: String

  init(key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: String) {
    self.key = key
    self.digest = digest
    self.metadata = metadata
    self.payloadBytes = payloadBytes
    self.codec = codec
  }
}

/// A value, with the facts about the entry that it was decoded from.
package final class Decoded<Value: Sendable>: DecodedEntry, @unchecked Sendable {
  package let value: Value

  init(_ value: Value, key: CacheKey, digest: UInt64, metadata: EntryMetadata, payloadBytes: Int, codec: String) {
    self.value = value
    super.init(key: key, digest: digest, metadata: metadata, payloadBytes: payloadBytes, codec: codec)
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
