internal import EngineSupport
internal import FetchVocabulary
internal import Platform
internal import ResponseStorage
internal import StorageSPI

/// The open file of uses: a table of blocks, found by the first bits of a digest.
///
/// The first block is the head. Its first record has the name of the format instead of a digest, the number of blocks
/// after the head instead of a time, and the number of records. It is also the mark of the store, with which an engine
/// has created the file.
struct AccessFile {
  private static let name = StoreMark.magic
  /// The name of the format before: after the head, records in any number of bytes.
  private static let formerName: UInt64 = 0x3173_6573_7568_6163
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

  /// The records of a file in the format before; `nil` if it is not one.
  static func formerRecords(_ descriptor: Int32, _ file: UsageFile) throws(CacheError) -> [AccessRecord]? {
    let head = try read(descriptor, file, AccessRecord.size, at: 0)
    guard head.withUnsafeBytes({ AccessRecord($0) })?.digest == formerName else { return nil }
    var (records, offset) = ([AccessRecord](), AccessRecord.size)
    while true {
      let bytes = try read(descriptor, file, 256 * AccessBlock.size, at: offset)
      guard bytes.count >= AccessRecord.size else { return records }
      for start in stride(from: 0, through: bytes.count - AccessRecord.size, by: AccessRecord.size) {
        let record = bytes.withUnsafeBytes { AccessRecord(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        if let record { records.append(record) }
      }
      offset += bytes.count
    }
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
