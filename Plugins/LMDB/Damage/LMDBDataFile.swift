internal import CLMDB
internal import Platform
internal import StorageSPI

/// A data file that no process is writing to, read without LMDB.
final class LMDBDataFile {
  /// Linux's `SEEK_DATA` and `SEEK_HOLE`, which the C library's module lacks.
  private static let (seekData, seekHole): (Int32, Int32) = (3, 4)

  private let descriptor: Int32
  private let mapping: LMDBMappedFile

  var bytes: UnsafeRawBufferPointer { mapping.bytes }

  /// Maps the data file in `folder`; `nil` if there is none.
  init?(readingIfPresentIn folder: String) throws(CacheError) {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    let descriptor = open(LMDBFile.data(in: folder), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .lmdb(errno, "read", path: folder)
    }
    guard let mapping = LMDBMappedFile(descriptor: descriptor) else {
      let status = errno
      close(descriptor)
      throw .lmdb(status, "read", path: folder)
    }
    self.descriptor = descriptor
    self.mapping = mapping
  }

  deinit { close(descriptor) }

  /// Makes the file's holes read as zeros without taking up memory of the file system. A memory file system allocates a
  /// page for each hole that is read through a map, and ends the process if it has none left. Data written into a hole
  /// afterwards is not seen, so no process may be writing to the store.
  ///
  /// The system allows a process some 65,000 mappings, and each cover may take two. If there are more holes than
  /// covers, one cover spans several holes that are close together, and memory holds a copy of the data between them.
  /// Holes for which no cover is left stay as they are.
  ///
  /// - Parameters:
  ///   - maximumCovers: the most covers to make, at least 1.
  ///   - maximumCopy: the most bytes of data to copy.
  func coverHoles(maximumCovers: Int = 30_000, maximumCopy: Int = 256 << 20) {
    let distance = distanceToBridge(maximumCovers)
    var (covers, room) = (maximumCovers, maximumCopy)
    guard var cover = nextHole(from: 0) else { return }
    while let hole = nextHole(from: cover.upperBound) {
      let data = hole.lowerBound - cover.upperBound
      if data <= distance, data <= room {
        room -= data
        cover = cover.lowerBound..<hole.upperBound
      } else {
        replace(cover)
        covers -= 1
        if covers == 0 { return }
        cover = hole
      }
    }
    replace(cover)
  }

  /// The most bytes of data that may lie between two holes of one cover, so that `maximumCovers` are enough; 0 if each
  /// hole can have its own.
  private func distanceToBridge(_ maximumCovers: Int) -> Int {
    // Counts the distances between holes by their bit width.
    var distances = [Int](repeating: 0, count: Int.bitWidth)
    var (covers, last) = (0, nil as Range<Int>?)
    while let hole = nextHole(from: last?.upperBound ?? 0) {
      if let last { distances[Int.bitWidth - (hole.lowerBound - last.upperBound).leadingZeroBitCount] += 1 }
      covers += 1
      last = hole
    }
    for (bits, count) in distances.enumerated() {
      covers -= count
      if covers <= maximumCovers { return 1 << bits - 1 }
    }
    return .max
  }

  /// The whole pages of the next hole at `offset` or later; `nil` if there is none, or the file system fails.
  private func nextHole(from offset: Int) -> Range<Int>? {
    let page = sysconf(Int32(_SC_PAGESIZE))
    var offset = offset
    while offset < bytes.count {
      let start = lseek(descriptor, off_t(offset), Self.seekHole)
      guard start >= 0, start < bytes.count, let data = nextData(from: start) else { return nil }
      offset = data
      let (first, last) = ((start + page - 1) / page * page, data == bytes.count ? data : data / page * page)
      if first < last { return first..<last }
    }
    return nil
  }

  /// The start of the next data at `offset` or later: the end of the file if there is none, `nil` if the file system
  /// fails.
  private func nextData(from offset: Int) -> Int? {
    let data = lseek(descriptor, off_t(offset), Self.seekData)
    if data < 0 { return errno == ENXIO ? bytes.count : nil }
    return min(data, bytes.count)
  }

  /// Replaces part of the map with a copy in memory, in which holes take up no space.
  private func replace(_ part: Range<Int>) {
    guard let base = bytes.baseAddress else { return }
    let start = UnsafeMutableRawPointer(mutating: base + part.lowerBound)
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    guard mmap(start, part.count, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED else { return }
    if copyData(of: part, to: start) {
      mprotect(start, part.count, PROT_READ)
    } else {
      mmap(start, part.count, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, off_t(part.lowerBound))
    }
  }

  /// Copies the data of a part of the file, without its holes, to `start`, and returns whether all of it could be read.
  private func copyData(of part: Range<Int>, to start: UnsafeMutableRawPointer) -> Bool {
    var offset = part.lowerBound
    while offset < part.upperBound {
      guard let data = nextData(from: offset) else { return false }
      if data >= part.upperBound { return true }
      offset = data
      let end = min(Int(lseek(descriptor, off_t(data), Self.seekHole)), part.upperBound)
      guard end > data else { return false }
      while offset < end {
        let count = pread(descriptor, start + (offset - part.lowerBound), end - offset, off_t(offset))
        guard count > 0 else { return false }
        offset += count
      }
    }
    return true
  }

  /// The states in the file, the more credible one first. That is the later one, unless its format record contradicts
  /// its meta page and the other state's record confirms its own.
  var states: [LMDBMetaPage] {
    let states = LMDBMetaPage.readable(in: bytes)
    guard states.count == 2, isConfirmed(states[0]) == false, isConfirmed(states[1]) == true else { return states }
    return states.reversed()
  }

  /// The version of the store's format; `nil` if it is unknown.
  var format: Int? {
    guard let state = states.first else { return nil }
    do throws(LMDBFault) {
      return try summary(in: state).map { _ in Int(LMDBSummary.currentFormat) } ?? 1
    } catch {
      guard case .laterVersion(let version) = error else { return nil }
      return Int(version)
    }
  }

  /// The format record of a state, which is the first record of the main database; `nil` if there is none.
  func summary(in state: LMDBMetaPage) throws(LMDBFault) -> LMDBSummary? {
    try summary(below: state.main.root, state.pageSize)
  }

  /// The format record in the main tree with the root `root`; `nil` if there is none.
  func summary(below root: UInt64, _ pageSize: Int) throws(LMDBFault) -> LMDBSummary? {
    guard let node = try firstNode(below: root, pageSize), node.key.elementsEqual(LMDBSummary.key) else { return nil }
    guard let value = value(of: node, pageSize) else { throw .damaged("its format record is cut off") }
    return try LMDBSummary(value)
  }

  /// The first record of the tree with the root `root`; `nil` if the tree is empty.
  func firstNode(below root: UInt64, _ pageSize: Int) throws(LMDBFault) -> LMDBNode? {
    guard root != LMDBTreeRecord.noRoot else { return nil }
    var number = root
    for _ in 0..<LMDBTreeCheck.maximumDepth {
      guard let pageBytes = pages(number, count: 1, pageSize) else { throw .damaged("it is cut off") }
      let page = try LMDBPage(pageBytes, number: number)
      guard page.count > 0 else { throw .damaged("page \(number) is empty") }
      if page.isLeaf { return page[0] }
      number = page[0].child
    }
    throw .damaged("its main tree is too deep")
  }

  /// The bytes of `count` pages; `nil` if the file does not contain them.
  func pages(_ first: UInt64, count: Int, _ pageSize: Int) -> UnsafeRawBufferPointer? {
    guard first < UInt64(bytes.count / pageSize), count <= bytes.count / pageSize - Int(first) else { return nil }
    let start = Int(first) * pageSize
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count * pageSize])
  }

  /// The value of a leaf's node, wherever it is stored; `nil` if the file does not contain it.
  func value(of node: LMDBNode, _ pageSize: Int) -> UnsafeRawBufferPointer? {
    guard node.flags & LMDBNode.Flag.overflow != 0 else { return node.data }
    let count = (LMDBPage.headerSize - 1 + node.valueSize) / pageSize + 1
    let first = node.data.loadUnaligned(as: UInt64.self)
    guard let pages = pages(first, count: count, pageSize) else { return nil }
    return UnsafeRawBufferPointer(rebasing: pages.dropFirst(LMDBPage.headerSize).prefix(node.valueSize))
  }

  /// Whether the format record names the state's transaction; `nil` if there is no readable record.
  private func isConfirmed(_ state: LMDBMetaPage) -> Bool? {
    (try? summary(in: state)).map { $0.transaction == Int(exactly: state.transaction) }
  }
}
