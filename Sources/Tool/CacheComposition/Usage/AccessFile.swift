internal import EngineSupport
internal import FetchVocabulary
internal import Platform
internal import CacheCore
internal import StorageSPI

/// The open file of uses: a table of blocks, found by the first bits of a digest.
///
/// The first block is the head. Its first record has the name of the format instead of a digest, the number of blocks
/// after the head instead of a time, and the number of records. It is also the mark of the store, with which an engine
/// has created the file.
struct AccessFile {
  private static let name = StoreMark.magic
  /// More blocks than any file has.
  private static let maximumBlocks = 1 << 28

  private let descriptor: Int32
  private let file: UsageFile
  /// The number of blocks, a power of two.
  let blocks: Int
  /// The number of records.
  private(set) var count: Int

  /// The table in the open file `descriptor`; `nil` if there is none in it.
  init?(_ descriptor: Int32, _ file: UsageFile) throws(CacheError) {
    let bytes = try Self.read(descriptor, file, AccessRecord.size, at: 0)
    guard let head = bytes.withUnsafeBytes({ AccessRecord($0) }), head.digest == Self.name else { return nil }
    let blocks = Int(head.history.lastUsedAt.milliseconds)
    guard blocks > 0, blocks <= Self.maximumBlocks, blocks & (blocks - 1) == 0 else { return nil }
    (self.descriptor, self.file, self.blocks, count) = (descriptor, file, blocks, Int(head.history.count))
  }

  /// Makes the empty file `descriptor` a table of `blocks` blocks, which must be a power of two.
  init(making descriptor: Int32, _ file: UsageFile, blocks: Int) throws(CacheError) {
    (self.descriptor, self.file, self.blocks, count) = (descriptor, file, blocks, 0)
    // Blocks without records take up no space.
    guard ftruncate(descriptor, off_t((blocks + 1) * AccessBlock.size)) == 0 else {
      throw file.failure("cannot be written")
    }
    try writeHead()
  }

  /// The histories of `digests`, in that order. Cost: a read of one block for each.
  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    var histories: [AccessHistory] = []
    for digest in digests { histories.append(try block(place(of: digest)).history(of: digest) ?? AccessHistory()) }
    return histories
  }

  /// Adds `records`. Cost: reading and writing the blocks that they are in, each once.
  mutating func add(_ records: [AccessRecord]) throws(CacheError) {
    let sorted = records.count == 1 ? records : records.sorted { $0.digest < $1.digest }
    var rest = sorted[...]
    while let first = rest.first {
      let place = place(of: first.digest)
      let own = rest.prefix { self.place(of: $0.digest) == place }
      rest = rest[own.endIndex...]
      var block = try block(place)
      for record in own where block.add(record) { count += 1 }
      try write(block.bytes, at: (place + 1) * AccessBlock.size)
    }
    try writeHead()
  }

  /// The records of the block at `place`, below `blocks`.
  func records(at place: Int) throws(CacheError) -> [AccessRecord] { try block(place).records }

  private func place(of digest: UInt64) -> Int {
    blocks == 1 ? 0 : Int(digest >> UInt64(UInt64.bitWidth - blocks.trailingZeroBitCount))
  }

  private func block(_ place: Int) throws(CacheError) -> AccessBlock {
    AccessBlock(try Self.read(descriptor, file, AccessBlock.size, at: (place + 1) * AccessBlock.size))
  }

  private func writeHead() throws(CacheError) {
    var head: [UInt8] = []
    AccessRecord(
      digest: Self.name,
      history: AccessHistory(lastUsedAt: Timestamp(milliseconds: Int64(blocks)), count: Int64(count))
    ).append(to: &head)
    try write(head, at: 0)
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(CacheError) {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
      throw file.failure("cannot be written")
    }
  }

  /// Up to `count` bytes at `offset`, fewer at the end of the file.
  private static func read(
    _ descriptor: Int32, _ file: UsageFile, _ count: Int, at offset: Int
  ) throws(CacheError) -> [UInt8] {
    var hasFailed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let piece = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset + filled))
        if piece < 0, errno == EINTR { continue }
        hasFailed = piece < 0
        guard piece > 0 else { return }
        filled += piece
      }
    }
    if hasFailed { throw file.failure("cannot be read") }
    return bytes
  }
}

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
