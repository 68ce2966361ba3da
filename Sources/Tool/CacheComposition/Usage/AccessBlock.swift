internal import ResponseStorage
internal import StorageSPI

/// A block of the file of uses: records in no order, with zeros where there is none.
struct AccessBlock {
  /// The size of a block in bytes.
  static let size = 4_096
  /// The number of records in a block.
  static let capacity = size / AccessRecord.size

  private(set) var bytes: [UInt8]

  /// The block with the content `bytes`. What is missing at the end counts as empty.
  init(_ bytes: [UInt8] = []) {
    self.bytes = bytes + [UInt8](repeating: 0, count: Self.size - bytes.count)
  }

  /// The records that are not damaged.
  var records: [AccessRecord] { (0..<Self.capacity).compactMap(record) }

  /// The use of the entry whose key has the digest `digest`; `nil` if there is none.
  func history(of digest: UInt64) -> AccessHistory? { place(of: digest).flatMap(record)?.history }

  /// Adds a use to those of its entry. A block without room forgets the use that is longest ago.
  ///
  /// - Returns: whether the block has a record more than before.
  mutating func add(_ record: AccessRecord) -> Bool {
    if let place = place(of: record.digest), let old = self.record(at: place) {
      write(AccessRecord(digest: record.digest, history: old.history + record.history), at: place)
      return false
    }
    var (free, oldest) = (Int?.none, (place: 0, time: Int64.max))
    for place in 0..<Self.capacity {
      guard let time = self.record(at: place)?.history.lastUsedAt.milliseconds else {
        free = place
        break
      }
      if time < oldest.time { oldest = (place, time) }
    }
    write(record, at: free ?? oldest.place)
    return free != nil
  }

  private mutating func write(_ record: AccessRecord, at place: Int) {
    var new: [UInt8] = []
    new.reserveCapacity(AccessRecord.size)
    record.append(to: &new)
    bytes.replaceSubrange(place * AccessRecord.size..<(place + 1) * AccessRecord.size, with: new)
  }

  private func place(of digest: UInt64) -> Int? {
    bytes.withUnsafeBytes { bytes in
      for place in 0..<Self.capacity where AccessRecord.number(in: bytes, at: place * AccessRecord.size) == digest {
        return place
      }
      return nil
    }
  }

  private func record(at place: Int) -> AccessRecord? {
    bytes.withUnsafeBytes {
      AccessRecord(UnsafeRawBufferPointer(rebasing: $0[place * AccessRecord.size..<(place + 1) * AccessRecord.size]))
    }
  }
}
