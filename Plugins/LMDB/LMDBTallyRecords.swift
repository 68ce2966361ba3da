internal import StorageSPI

/// The record of the store's format and content: one value in the main database, under a key of one zero byte.
///
/// All numbers are little-endian: format version (2 bytes) and its complement (2), so that damage does not look like a
/// later version; number of namespaces (4), transaction (8); then for each namespace its name padded with zeros (32),
/// its entries (8) and the bytes of their payloads (8).
///
/// The transaction is the one that wrote the record; each transaction that changes entries writes it. If the store's
/// last transaction is a different one, a program that keeps no tally wrote to the store: the counts here are then
/// invalid, and the entries are counted again.
struct LMDBSummary: Equatable {
  /// The totals of a namespace.
  struct Total: Equatable {
    let namespace: LMDBNamespace
    var count: EntryTally.Count
  }

  /// The format version that this engine writes and reads.
  static let format = 1
  static let key: [UInt8] = [0]

  private static let fixedSize = 16
  private static let totalSize = 48

  /// The transaction that wrote the record; 0, which is no valid number, if the count is known to be wrong.
  var transaction: Int
  private(set) var totals: [Total] = []

  init(transaction: Int) { self.transaction = transaction }

  /// Parses the record in `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) throws(LMDBFault) {
    guard let format = Self.format(of: bytes) else { throw .damaged("its format record has no version") }
    guard format == Self.format else { throw .laterVersion(UInt32(format)) }
    guard bytes.count >= Self.fixedSize, (bytes.count - Self.fixedSize) % Self.totalSize == 0,
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        == (bytes.count - Self.fixedSize) / Self.totalSize
    else { throw .damaged("its format record is cut off") }
    transaction = Int(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int.self))
    for start in stride(from: Self.fixedSize, to: bytes.count, by: Self.totalSize) {
      let name = UnsafeRawBufferPointer(rebasing: bytes[start..<start + LMDBNamespace.size].prefix { $0 != 0 })
      guard let namespace = LMDBNamespace(name: name) else { throw .damaged("its format record names no namespace") }
      totals.append(Total(namespace: namespace, count: EntryTally.Count(bytes, at: start + LMDBNamespace.size)))
    }
  }

  /// A 16-bit format version with its complement above it.
  private static func word(_ format: UInt32) -> UInt32 { format | (~format & 0xFFFF) << 16 }

  /// The version in the record `bytes`; `nil` if it is damaged.
  static func format(of bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 4 else { return nil }
    let word = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    return word == Self.word(word & 0xFFFF) ? Int(word & 0xFFFF) : nil
  }

  /// The size of the record, in bytes.
  var size: Int { Self.fixedSize + totals.count * Self.totalSize }

  /// Writes the record to `room`, which has exactly its size.
  func write(to room: UnsafeMutableRawBufferPointer) {
    room.storeBytes(of: Self.word(UInt32(Self.format)).littleEndian, as: UInt32.self)
    room.storeBytes(of: UInt32(totals.count).littleEndian, toByteOffset: 4, as: UInt32.self)
    room.storeBytes(of: transaction.littleEndian, toByteOffset: 8, as: Int.self)
    for (index, total) in totals.enumerated() {
      let start = Self.fixedSize + index * Self.totalSize
      total.namespace.write(to: room, at: start)
      total.count.write(to: room, at: start + LMDBNamespace.size)
    }
  }

  /// Adds `count`, which may be negative, to the total of `namespace`.
  ///
  /// - Returns: whether the result is not negative, as it must be.
  mutating func add(_ count: EntryTally.Count, to namespace: LMDBNamespace) -> Bool {
    guard let index = totals.firstIndex(where: { $0.namespace == namespace }) else {
      totals.append(Total(namespace: namespace, count: count))
      return count.isPossible
    }
    totals[index].count = totals[index].count + count
    return totals[index].count.isPossible
  }

  /// Throws `overBounds` if the store would exceed `bounds`.
  func require(_ bounds: StoreBounds) throws(CacheError) {
    let exempt = bounds.exemptNamespace.flatMap { name in Array(name.utf8).withUnsafeBytes { LMDBNamespace(name: $0) } }
    var sum = EntryTally.Count()
    for total in totals where total.namespace != exempt { sum = sum + total.count }
    if sum.entries <= bounds.maxEntries, sum.payloadBytes <= bounds.maxPayloadBytes { return }
    var tally = EntryTally()
    for total in totals {
      tally.add(total.count, to: EntryTally.Slot(namespace: total.namespace.name, freshSlot: 0, retainSlot: 0))
    }
    try bounds.require(tally)
  }
}

/// A group of entries counted together, in a form that needs no allocation: a record in the main database.
///
/// The key: the namespace's name, a zero byte, then the complements of the two time slots, big-endian, 4 bytes each.
/// With complements, the latest slots, which change most, lie beside the namespace's own record, in a page that every
/// commit writes anyway. The value: the number of entries and the bytes of their payloads, little-endian, 8 bytes each.
///
/// LMDB's tools skip keys that contain a zero byte.
struct LMDBSlot: Hashable {
  let namespace: LMDBNamespace
  let fresh: UInt32
  let retain: UInt32

  static let maximumKeySize = LMDBNamespace.size + 9
  static let valueSize = 16

  /// The slot of an entry. A time has at most 48 bits, so a time slot has at most 28.
  init(_ namespace: LMDBNamespace, freshUntil: Timestamp, retainUntil: Timestamp) {
    self.namespace = namespace
    fresh = UInt32(truncatingIfNeeded: freshUntil.milliseconds >> EntryTally.slotBits)
    retain = UInt32(truncatingIfNeeded: retainUntil.milliseconds >> EntryTally.slotBits)
  }

  /// The slot of the record with the key `key`; `nil` if `key` is not a slot's key.
  init?(key: UnsafeRawBufferPointer) {
    let size = key.count - 9
    guard size > 0, size <= LMDBNamespace.size, key[size] == 0,
      let namespace = LMDBNamespace(name: UnsafeRawBufferPointer(rebasing: key[..<size]))
    else { return nil }
    self.namespace = namespace
    fresh = ~UInt32(bigEndian: key.loadUnaligned(fromByteOffset: size + 1, as: UInt32.self))
    retain = ~UInt32(bigEndian: key.loadUnaligned(fromByteOffset: size + 5, as: UInt32.self))
  }

  /// Calls `body` with the record's key.
  func withKey<Output>(
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let capacity = Self.maximumKeySize
    return try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { room throws(CacheError) in
      namespace.write(to: room, at: 0)
      let size = namespace.length
      room[size] = 0
      room.storeBytes(of: (~fresh).bigEndian, toByteOffset: size + 1, as: UInt32.self)
      room.storeBytes(of: (~retain).bigEndian, toByteOffset: size + 5, as: UInt32.self)
      return try body(UnsafeRawBufferPointer(rebasing: room[..<(size + 9)]))
    }
  }

  /// The same slot as an `EntryTally.Slot`.
  var slot: EntryTally.Slot {
    EntryTally.Slot(namespace: namespace.name, freshSlot: Int64(fresh), retainSlot: Int64(retain))
  }
}

extension EntryTally.Count {
  /// Whether the number of entries and their size are consistent.
  var isPossible: Bool { entries > 0 ? payloadBytes >= 0 : entries == 0 && payloadBytes == 0 }

  /// The count at `offset` of `bytes`, which must be long enough.
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    self.init(
      entries: Int(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int.self)),
      payloadBytes: Int(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int.self)))
  }

  /// Writes the count at `offset` of `room`, which must be large enough.
  func write(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
    room.storeBytes(of: entries.littleEndian, toByteOffset: offset, as: Int.self)
    room.storeBytes(of: payloadBytes.littleEndian, toByteOffset: offset + 8, as: Int.self)
  }
}
