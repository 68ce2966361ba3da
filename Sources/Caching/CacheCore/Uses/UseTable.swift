internal import CChecksum
package import EngineAPI

/// The one file next to a store: the uses of its entries, its own counters, and the position of the next eviction. It
/// is not part of the store, and also the store's second mark (`StoreMark`): losing it loses an order and one of the
/// two marks.
///
/// - 72 bytes of little-endian numbers: the mark, the number of blocks, the number of records, hits, misses, evictions, the
///   length and the checksum of the text of the sweep, and a checksum of all these;
/// - from byte 4,096 on the blocks of 4 KiB, a hash table by the first bits of digests: see `UseBlock`;
/// - behind these the text of the sweep.
///
/// Finding or adding a use costs the same for ten entries and for a million. When three quarters of the table are full, it
/// becomes four times as large, until there is room for `capacity` records. Then a full block forgets the use that is
/// longest ago. A file that is torn or damaged counts as empty as far as it is, and a file of someone else is neither read
/// nor changed. Several processes read and change the file under its lock.
package struct UseTable: Sendable {
  let path: String
  private let files = StoreFiles()
  /// How long to wait for the lock. Each process holds it for some microseconds; one that is suspended meanwhile must not
  /// stop the others forever.
  var patience = Duration.seconds(60)
  private let maximumBlocks: Int

  /// The table in the file at `path`, which keeps the uses of about `capacity` entries (1 or more), the most recent ones.
  package init(path: String, capacity: Int) {
    self.path = path
    maximumBlocks = OpenUseTable.blocks(for: capacity)
  }

  /// The table of the store that is open with `configuration`; `nil` if the store does not outlive the process, or has
  /// no path and there is no `home`. It remembers as many evicted entries as the store can hold, so that one that comes
  /// back is known.
  init?(
    of declaration: EngineDeclaration, _ configuration: EngineConfiguration, home: String?, maxEntries: Int
  ) {
    guard declaration.capabilities.contains(.persistent),
      var given = Self.storePath(of: declaration, configuration.value, home: home)
    else { return nil }
    if !given.hasPrefix("/"), let folder = getcwd(nil, 0) {
      // The program can change its working directory while the store is open.
      given = String(cString: folder) + "/" + given
      free(folder)
    }
    var mark = StoreMark(ofFile: given)
    switch try? StorePlace(given) {
    case .file:
      // An engine puts the mark of a file next to the file itself. One next to the link would outlive the link.
      mark = StoreMark(ofFile: StorePlace.resolved(given))
    case .folder:
      // A mark that was not on disk when the power failed is an empty file, and gets its head again.
      let inside = StoreMark(inFolder: given)
      if inside.isPresent || (try? StorePlace(inside.path)) == .file(size: 0) { mark = inside }
    case .nothing, .other, nil: break
    }
    self.init(path: mark.path, capacity: max(min(maxEntries, 1 << 30) * 2, 1 << 16))
  }

  /// How the entries were used whose keys have these digests, in that order. Cost: a read of one block for each.
  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    let none = digests.map { _ in AccessHistory() }
    if digests.isEmpty { return none }
    return try read { table throws(CacheError) in try table.histories(of: digests) } ?? none
  }

  /// The numbers of all processes.
  func counts() throws(CacheError) -> OperationCounts { try read { $0.counts } ?? OperationCounts() }

  /// The position of the last eviction; `nil` if that is not known.
  func sweep() -> EvictionSweep? {
    let text = try? read { table throws(CacheError) in try table.sweepText() }
    return text?.flatMap { String(validating: $0, as: UTF8.self) }.flatMap { EvictionSweep(text: $0) }
  }

  /// Adds uses and counts, and replaces the place of the sweep unless it is `nil`. Creates the file for the user alone if
  /// there is none.
  func add(
    _ records: [AccessRecord], _ counts: OperationCounts = OperationCounts(), sweep: EvictionSweep? = nil
  ) throws(CacheError) {
    // A store on a server has made no folder.
    if try files.status(of: path) == nil, let slash = path.lastIndex(of: "/") {
      try files.makeDirectory(String(path[..<slash]))
    }
    try withTable(O_RDWR | O_CREAT, exclusively: true) { table throws(CacheError) in
      guard var table else {
        throw CacheError(
          .cannotCreate, "\(path) is not a file of cachectl: it has the name of the file about a store's use",
          hint: "move it away: the use of the store is counted in a file there")
      }
      // Before anything else: a file with content and without a head would be someone else's.
      if table.isNew { try table.writeHead() }
      try table.add(records, maximumBlocks: maximumBlocks)
      if let sweep { try table.keep(Array(sweep.text.utf8)) }
      table.counts = table.counts + counts
      try table.writeHead()
    }
  }

  /// The result of `body` for the table; `nil` if there is none.
  private func read<Output>(
    _ body: (OpenUseTable) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    guard try files.status(of: path) != nil else { return nil }
    return try withTable(O_RDONLY, exclusively: false) { table throws(CacheError) in
      if let table { try body(table) } else { nil }
    }
  }

  /// Calls `body` with the table in the file, which is locked meanwhile; with `nil` if the file belongs to someone else.
  private func withTable<Output>(
    _ flags: Int32, exclusively: Bool, _ body: (OpenUseTable?) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try files.withLock(on: path, flags | O_NOFOLLOW, exclusively: exclusively, within: patience) {
      file throws(CacheError) in try body(try OpenUseTable(file, files))
    }
  }
}

/// The names of such files.
extension UseTable {
  /// The prefix of the paths of files next to that store: its own path, or one in `home` that is named after the engine
  /// and, unless the store is in the usual place, a digest of its address. `nil` if it has neither.
  ///
  /// - Parameter value: the value of an option.
  package static func storePath(
    of declaration: EngineDeclaration, _ value: (String) -> OptionValue?, home: String?
  ) -> String? {
    guard case .text(var path)? = value("path") else {
      return home.map { "\($0)/\(declaration.name)" + (declaration.addressDigest(value).map { "-\($0)" } ?? "") }
    }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// The path of a file of someone else that has the name of the table of the store that `configuration` opens; `nil` if there
  /// is none. Such a file is neither read nor changed.
  package static func foreignFile(
    of declaration: EngineDeclaration, _ configuration: EngineConfiguration, home: String?
  ) -> String? {
    guard let path = UseTable(of: declaration, configuration, home: home, maxEntries: 0)?.path else { return nil }
    switch try? StorePlace(path) {
    case .nothing, .file(size: 0), nil: return nil
    case .file, .folder, .other: return StoreMark(ofFile: String(path.dropLast(5))).isPresent ? nil : path
    }
  }
}

extension EngineDeclaration {
  /// A digest of the address and the name of the store, which tell stores on servers apart; `nil` if both are the usual
  /// ones.
  fileprivate func addressDigest(_ value: (String) -> OptionValue?) -> String? {
    let parts = options.filter { $0.name == "url" || $0.kind == .storeName }
    let given = parts.map { value($0.name) ?? $0.defaultValue }
    guard given != parts.map(\.defaultValue) else { return nil }
    var digest = SHA256()
    for (option, value) in zip(parts, given) {
      if case .text(let text)? = value { digest.update(Array("\(option.name)=\(text)\n".utf8)) }
    }
    return String(digest.hexText.prefix(16))
  }
}

/// The table in an open file.
private struct OpenUseTable {
  private static let headSize = 72
  /// More blocks than any file has.
  private static let maximumBlocks = 1 << 28

  private let file: OpenFile
  private let files: StoreFiles
  /// Whether the file is empty.
  private(set) var isNew = false
  /// The number of blocks, a power of two or 0.
  private var blocks = 0
  /// The number of records.
  private var records = 0
  var counts = OperationCounts()
  private var sweepLength = 0
  private var sweepChecksum: UInt64 = 0

  /// The table in `file`; `nil` if the file belongs to someone else.
  init?(_ file: OpenFile, _ files: StoreFiles) throws(CacheError) {
    self.file = file
    self.files = files
    let head = try files.read(file, at: 0, count: Self.headSize)
    // A process that died while it created the file has left an empty one.
    isNew = head.isEmpty
    if isNew { return }
    guard head.count >= 8, head.withUnsafeBytes({ $0.number(at: 0, as: UInt64.self) }) == StoreMark.magic else {
      return nil
    }
    guard head.count == Self.headSize else { return }
    let numbers = head.withUnsafeBytes { bytes in (0..<9).map { bytes.number(at: 8 * $0, as: UInt64.self) } }
    let blocks = Int(truncatingIfNeeded: numbers[1])
    guard numbers[8] == Self.checksum(head.dropLast(8)), blocks & (blocks - 1) == 0,
      (0...Self.maximumBlocks).contains(blocks)
    else { return }
    let others = numbers.map { max(0, Int(truncatingIfNeeded: $0)) }
    self.blocks = blocks
    records = others[2]
    counts = OperationCounts(hits: others[3], misses: others[4], evictions: others[5])
    sweepLength = others[6]
    sweepChecksum = numbers[7]
  }

  /// The number of blocks of which `count` records fill at most three quarters.
  static func blocks(for count: Int) -> Int {
    var blocks = 1
    while blocks * UseBlock.capacity * 3 / 4 < count, blocks < maximumBlocks { blocks *= 2 }
    return blocks
  }

  func writeHead() throws(CacheError) {
    var head: [UInt8] = []
    let numbers = [blocks, records, counts.hits, counts.misses, counts.evictions, sweepLength].map(UInt64.init)
    for number in [StoreMark.magic] + numbers + [sweepChecksum] { head.append(littleEndian: number) }
    head.append(littleEndian: Self.checksum(head[...]))
    try files.write(head, to: file, at: 0)
  }

  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    var histories: [AccessHistory] = []
    for digest in digests {
      let history = blocks == 0 ? nil : try block(place(of: digest)).history(of: digest)
      histories.append(history ?? AccessHistory())
    }
    return histories
  }

  /// Adds `records`. Cost: reading and writing the blocks that they are in, each once. The caller writes the head.
  mutating func add(_ records: [AccessRecord], maximumBlocks: Int) throws(CacheError) {
    if records.isEmpty { return }
    let needed = Self.blocks(for: self.records + records.count)
    if needed > blocks, blocks < maximumBlocks { try grow(to: min(max(needed, 4 * blocks), maximumBlocks)) }
    try insert(records)
  }

  /// Makes the table larger in place. If the process dies meanwhile, uses are lost.
  private mutating func grow(to blocks: Int) throws(CacheError) {
    var kept: [AccessRecord] = []
    for place in 0..<self.blocks { kept += try block(place).records }
    let sweep = try sweepText()
    self.blocks = blocks
    records = 0
    sweepLength = 0
    // Blocks without records take up no space, and at the end they are not in the file.
    try files.resize(file, to: Self.headSize)
    try writeHead()
    try insert(kept)
    if let sweep { try keep(sweep) }
  }

  private mutating func insert(_ new: [AccessRecord]) throws(CacheError) {
    let sorted = new.count == 1 ? new : new.sorted { $0.digest < $1.digest }
    var rest = sorted[...]
    while let first = rest.first {
      let place = place(of: first.digest)
      let own = rest.prefix { self.place(of: $0.digest) == place }
      rest = rest[own.endIndex...]
      var block = try block(place)
      for record in own where block.add(record) { records += 1 }
      try files.write(block.bytes, to: file, at: (place + 1) * UseBlock.size)
    }
  }

  private var sweepStart: Int { (blocks + 1) * UseBlock.size }

  /// The text of the sweep; `nil` if there is none, or it is damaged.
  func sweepText() throws(CacheError) -> [UInt8]? {
    guard sweepLength > 0, sweepLength <= EvictionSweep.maximumLength else { return nil }
    let text = try files.read(file, at: sweepStart, count: sweepLength)
    return Self.checksum(text[...]) == sweepChecksum ? text : nil
  }

  /// Replaces the text of the sweep. The caller writes the head.
  mutating func keep(_ sweep: [UInt8]) throws(CacheError) {
    sweepLength = sweep.count
    sweepChecksum = Self.checksum(sweep[...])
    try files.write(sweep, to: file, at: sweepStart)
    try files.resize(file, to: sweepStart + sweep.count)
  }

  private func place(of digest: UInt64) -> Int {
    blocks == 1 ? 0 : Int(digest >> UInt64(UInt64.bitWidth - blocks.trailingZeroBitCount))
  }

  private func block(_ place: Int) throws(CacheError) -> UseBlock {
    UseBlock(try files.read(file, at: (place + 1) * UseBlock.size, count: UseBlock.size))
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { cchecksum_xxh3($0.baseAddress, $0.count, 0) }
  }
}

/// A block of the table: records in no order, with zeros in unused places.
private struct UseBlock {
  /// The size of a block in bytes.
  static let size = 4_096
  /// The number of records in a block.
  static let capacity = size / AccessRecord.size

  private(set) var bytes: [UInt8]

  /// The block with the content `bytes`. A missing end counts as empty.
  init(_ bytes: [UInt8]) {
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
    var free: Int?
    var oldest = (place: 0, time: Int64.max)
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
      for place in 0..<Self.capacity where bytes.number(at: place * AccessRecord.size, as: UInt64.self) == digest {
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

/// An entry's history as it is stored. It has a digest instead of the key, so that all records have the same size.
struct AccessRecord: Sendable, Hashable {
  /// The size of a record in bytes.
  static let size = 32
  private static let payloadSize = 24
  /// Makes sure that zeros are not a valid record.
  private static let seed: UInt64 = 0x7573_6573

  /// XXH3 (64 bits) of the key. A collision of two keys in a store is next to impossible, and would only make one of
  /// the entries stay longer than it should.
  let digest: UInt64
  let history: AccessHistory

  static func digest(of key: CacheKey) -> UInt64 {
    var text = key.text
    return text.withUTF8 { cchecksum_xxh3($0.baseAddress, $0.count, 0) }
  }
}

extension AccessRecord {
  /// Reads the record in the first `size` bytes of `bytes`; `nil` if they are not intact.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size, bytes.number(at: 24, as: UInt64.self) == Self.check(bytes) else { return nil }
    let time = bytes.number(at: 8, as: Int64.self)
    let count = bytes.number(at: 16, as: Int64.self)
    self.init(
      digest: bytes.number(at: 0, as: UInt64.self),
      history: AccessHistory(lastUsedAt: Timestamp(milliseconds: time), count: max(0, count)))
  }

  /// Appends the record: digest, time in milliseconds, count, and a checksum of these, each as eight little-endian
  /// bytes.
  func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    let fields = [digest, UInt64(bitPattern: history.lastUsedAt.milliseconds), UInt64(bitPattern: history.count)]
    for field in fields { bytes.append(littleEndian: field) }
    let check = bytes.withUnsafeBytes { Self.check(UnsafeRawBufferPointer(rebasing: $0[start...])) }
    bytes.append(littleEndian: check)
  }

  private static func check(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    cchecksum_xxh3(bytes.baseAddress, payloadSize, seed)
  }
}
