/// A tree page as stored in the file: a header, an array of offsets, free space, and nodes at the end.
///
/// Layout (LMDB 0.9, 64 bits): number (8 bytes), unused (2), kind (2), then the end of the array and the end of the
/// free space (2 each). A node: two halves of a size or of a page number (2 each), flags (2), key size (2), key, value.
struct LMDBPage {
  enum Kind {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08
  }

  static let headerSize = 16

  private let bytes: UnsafeRawBufferPointer
  private let upper: Int
  let isLeaf: Bool
  let count: Int

  /// The page `number` in `bytes`; checks its header and, unless it is known to be sound, the location of every node.
  init(_ bytes: UnsafeRawBufferPointer, number: UInt64, isKnown: Bool = false) throws(LMDBFault) {
    let kind = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
    upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
    guard bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self) == number else {
      throw .damaged("page \(number) has another page's number")
    }
    guard kind == Kind.branch || kind == Kind.leaf else { throw .damaged("page \(number) is of the wrong kind") }
    guard lower >= Self.headerSize, lower % 2 == 0, upper % 2 == 0, lower <= upper, upper <= bytes.count else {
      throw .damaged("page \(number) has impossible bounds")
    }
    self.bytes = bytes
    isLeaf = kind == Kind.leaf
    count = (lower - Self.headerSize) / 2
    if !isKnown { try checkNodes(number) }
  }

  /// The node `index`, whose location the initializer has checked.
  subscript(index: Int) -> LMDBNode { LMDBNode(bytes, at: offset(index), isLeaf: isLeaf) }

  private func offset(_ index: Int) -> Int {
    Int(bytes.loadUnaligned(fromByteOffset: Self.headerSize + 2 * index, as: UInt16.self))
  }

  /// Nodes lie side by side, without gaps, from `upper` to the end of the page.
  private func checkNodes(_ number: UInt64) throws(LMDBFault) {
    try withUnsafeTemporaryAllocation(of: Bool.self, capacity: bytes.count / 2) { starts throws(LMDBFault) in
      starts.initialize(repeating: false)
      for index in 0..<count {
        let offset = offset(index)
        guard offset >= upper, offset + LMDBNode.headerSize <= bytes.count, offset % 2 == 0, !starts[offset / 2] else {
          throw .damaged("page \(number) has a node out of place")
        }
        starts[offset / 2] = true
      }
      var (position, found) = (upper, 0)
      while position < bytes.count {
        guard starts[position / 2] else { throw .damaged("page \(number) has a gap between nodes") }
        position += LMDBNode.size(bytes, at: position, isLeaf: isLeaf)
        found += 1
      }
      guard position == bytes.count, found == count else { throw .damaged("page \(number) has nodes that overlap") }
    }
  }
}

/// A node of a page: a key, plus a value or its location in a leaf, or a page number in a branch.
struct LMDBNode {
  enum Flag {
    static let overflow: UInt16 = 0x01
    static let tree: UInt16 = 0x02
  }

  static let headerSize = 8

  let flags: UInt16
  let key: UnsafeRawBufferPointer
  /// What follows the key in the page: a value, or the number of the value's first overflow page.
  let data: UnsafeRawBufferPointer
  /// The size of the value, wherever it is stored.
  let valueSize: Int
  /// In a branch: the child page.
  let child: UInt64

  fileprivate init(_ page: UnsafeRawBufferPointer, at offset: Int, isLeaf: Bool) {
    let keySize = Int(page.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
    let dataSize = Self.dataSize(page, at: offset, isLeaf: isLeaf)
    let start = offset + Self.headerSize
    flags = page.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
    key = UnsafeRawBufferPointer(rebasing: page[start..<start + keySize])
    data = UnsafeRawBufferPointer(rebasing: page[start + keySize..<start + keySize + dataSize])
    let number = Self.number(page, at: offset)
    valueSize = Int(number)
    child = UInt64(number) | UInt64(flags) << 32
  }

  /// The node at `offset` of a page that may be damaged; `nil` if it is not within the page.
  static func ifWithin(_ page: UnsafeRawBufferPointer, at offset: Int, isLeaf: Bool) -> LMDBNode? {
    guard offset >= LMDBPage.headerSize, offset + headerSize <= page.count else { return nil }
    guard offset + size(page, at: offset, isLeaf: isLeaf) <= page.count else { return nil }
    return LMDBNode(page, at: offset, isLeaf: isLeaf)
  }

  /// The node's size within the page. Its header must be within the page; the rest may not be.
  static func size(_ page: UnsafeRawBufferPointer, at offset: Int, isLeaf: Bool) -> Int {
    guard offset + headerSize <= page.count else { return headerSize }
    let keySize = Int(page.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
    return (headerSize + keySize + dataSize(page, at: offset, isLeaf: isLeaf) + 1) & ~1
  }

  private static func dataSize(_ page: UnsafeRawBufferPointer, at offset: Int, isLeaf: Bool) -> Int {
    guard isLeaf else { return 0 }
    let flags = page.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
    return flags & Flag.overflow != 0 ? 8 : Int(number(page, at: offset))
  }

  private static func number(_ page: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
    UInt32(page.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
      | UInt32(page.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)) << 16
  }
}
