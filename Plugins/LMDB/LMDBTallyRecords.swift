internal import StorageSPI

/// The record that says of which format the store is and how much it holds: one value in the main database under the
/// key of one zero byte.
///
/// All numbers are little-endian: format version (2 bytes) and its complement (2), so that no damage is taken for a later
/// version; number of namespaces (4), transaction (8); then for each
/// namespace its name filled up with zeros (32), its entries (8) and the bytes of their payloads (8).
///
/// The transaction is the one that wrote the record, and each that changes entries writes it. A store whose last
/// transaction is another one was written by a program that keeps no tally: what is counted here then counts for
/// nothing, and the entries are counted anew.
struct LMDBSummary: Equatable {
  /// What a namespace holds.
  struct Total: Equatable {
    let namespace: LMDBNamespace
    var count: EntryTally.Count
  }

  /// The format that this engine writes. Version 1 is one without this record.
  static let currentFormat: UInt32 = 2
  static let key: [UInt8] = [0]

  private static let fixedSize = 16
  private static let totalSize = 48

  /// The transaction that wrote the record; 0, which no transaction is, where the count is known to be wrong.
  var transaction: Int
  private(set) var totals: [Total] = []

  init(transaction: Int) { self.transaction = transaction }

  /// The record written in `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) throws(LMDBFault) {
    guard bytes.count >= 4 else { throw .damaged("its format record is cut off") }
    let word = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    let format = word & 0xFFFF
    guard word == Self.word(format) else { throw .damaged("its format record has no version") }
    guard format == Self.currentFormat else {
      throw format > Self.currentFormat ? .laterVersion(format) : .damaged("its format record is of version \(format)")
    }
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

  /// A format version of 16 bits with its complement above it.
  private static func word(_ format: UInt32) -> UInt32 { format | (~format & 0xFFFF) << 16 }

  /// The size of the record, in bytes.
  var size: Int { Self.fixedSize + totals.count * Self.totalSize }

  /// Writes the record to `room`, which has its size.
  func write(to room: UnsafeMutableRawBufferPointer) {
    room.storeBytes(of: Self.word(Self.currentFormat).littleEndian, as: UInt32.self)
    room.storeBytes(of: UInt32(totals.count).littleEndian, toByteOffset: 4, as: UInt32.self)
    room.storeBytes(of: transaction.littleEndian, toByteOffset: 8, as: Int.self)
    for (index, total) in totals.enumerated() {
      let start = Self.fixedSize + index * Self.totalSize
      total.namespace.write(to: room, at: start)
      total.count.write(to: room, at: start + LMDBNamespace.size)
    }
  }

  /// Adds `count`, which may be negative, to what `namespace` has.
  ///
  /// - Returns: whether that leaves nothing negative, as it must.
  mutating func add(_ count: EntryTally.Count, to namespace: LMDBNamespace) -> Bool {
    guard let index = totals.firstIndex(where: { $0.namespace == namespace }) else {
      totals.append(Total(namespace: namespace, count: count))
      return count.isPossible
    }
    totals[index].count = totals[index].count + count
    return totals[index].count.isPossible
  }

  /// Fails with `overBounds` where the store would not be within `bounds`.
  func require(_ bounds: StoreBounds) throws(StorageError) {
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

/// Entries that are counted together, in a form that costs no allocation: a record in the main database.
///
/// The key: the name of the namespace, a zero byte, then the complements of the two slots of time, big-endian, 4 bytes
/// each, so that the latest, which change most, lie beside the namespace's own record and so in a page that every
/// commit writes anyway. The value: the number of entries and the bytes of their payloads, little-endian, 8 bytes each.
///
/// LMDB's tools pass over keys with a zero byte in them.
struct LMDBSlot: Hashable {
  let namespace: LMDBNamespace
  let fresh: UInt32
  let retain: UInt32

  static let maximumKeySize = LMDBNamespace.size + 9
  static let valueSize = 16

  /// The slot of an entry. A time has at most 48 bits, so a slot of time at most 28.
  init(_ namespace: LMDBNamespace, freshUntil: Timestamp, retainUntil: Timestamp) {
    self.namespace = namespace
    fresh = UInt32(truncatingIfNeeded: freshUntil.milliseconds >> EntryTally.slotBits)
    retain = UInt32(truncatingIfNeeded: retainUntil.milliseconds >> EntryTally.slotBits)
  }

  /// The slot whose record has the key `key`; `nil` where that is no such key.
  init?(key: UnsafeRawBufferPointer) {
    let size = key.count - 9
    guard size > 0, size <= LMDBNamespace.size, key[size] == 0,
      let namespace = LMDBNamespace(name: UnsafeRawBufferPointer(rebasing: key[..<size]))
    else { return nil }
    self.namespace = namespace
    fresh = ~UInt32(bigEndian: key.loadUnaligned(fromByteOffset: size + 1, as: UInt32.self))
    retain = ~UInt32(bigEndian: key.loadUnaligned(fromByteOffset: size + 5, as: UInt32.self))
  }

  /// Calls `body` with the key of the record.
  func withKey<Output>(
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let capacity = Self.maximumKeySize
    return try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 8) { room throws(StorageError) in
      namespace.write(to: room, at: 0)
      let size = namespace.length
      room[size] = 0
      room.storeBytes(of: (~fresh).bigEndian, toByteOffset: size + 1, as: UInt32.self)
      room.storeBytes(of: (~retain).bigEndian, toByteOffset: size + 5, as: UInt32.self)
      return try body(UnsafeRawBufferPointer(rebasing: room[..<(size + 9)]))
    }
  }

  /// The same slot as others know it.
  var slot: EntryTally.Slot {
    EntryTally.Slot(namespace: namespace.name, freshSlot: Int64(fresh), retainSlot: Int64(retain))
  }
}

extension EntryTally.Count {
  /// Whether there can be so many entries of that size.
  var isPossible: Bool { entries > 0 ? payloadBytes >= 0 : entries == 0 && payloadBytes == 0 }

  /// The count written at `offset` of `bytes`, which are long enough.
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    self.init(
      entries: Int(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int.self)),
      payloadBytes: Int(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int.self)))
  }

  /// Writes the count at `offset` of `room`, which is large enough.
  func write(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
    room.storeBytes(of: entries.littleEndian, toByteOffset: offset, as: Int.self)
    room.storeBytes(of: payloadBytes.littleEndian, toByteOffset: offset + 8, as: Int.self)
  }
}
