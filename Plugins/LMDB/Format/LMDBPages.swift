internal import Platform

/// The pages of a data file in memory.
struct LMDBPages {
  let bytes: UnsafeRawBufferPointer
  /// The size of a page in bytes.
  let size: Int

  private var count: UInt64 { UInt64(bytes.count / size) }

  /// The tree page `number`, once its header and the location of its nodes are checked; of a branch that is known to be
  /// sound, only the header.
  func page(_ number: UInt64, knowsBranches: Bool = false) throws(LMDBFault) -> LMDBPage {
    guard number < count else { throw .damaged("it refers to page \(number), which it does not have") }
    let start = Int(number) * size
    let page = UnsafeRawBufferPointer(rebasing: bytes[start..<start + size])
    let isBranch = page.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == LMDBPage.Kind.branch
    return try LMDBPage(page, number: number, isKnown: knowsBranches && isBranch)
  }

  /// The value that the leaf node `node` stores in overflow pages, which have one header and no gaps, with the number of
  /// the first page and how many there are.
  func overflowValue(
    of node: LMDBNode
  ) throws(LMDBFault) -> (value: UnsafeRawBufferPointer, first: UInt64, pages: UInt64) {
    let number = node.data.loadUnaligned(as: UInt64.self)
    guard number < count else { throw .damaged("it refers to page \(number), which it does not have") }
    let start = Int(number) * size
    let pages = UInt64(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
    let needed = (LMDBPage.headerSize - 1 + node.valueSize) / size + 1
    guard bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self) == number,
      bytes.loadUnaligned(fromByteOffset: start + 10, as: UInt16.self) == LMDBPage.Kind.overflow, pages >= needed,
      pages <= count - number
    else { throw .damaged("page \(number) does not hold the value that it should") }
    let first = start + LMDBPage.headerSize
    return (UnsafeRawBufferPointer(rebasing: bytes[first..<first + node.valueSize]), number, pages)
  }
}

/// Compares two keys by their bytes, a shorter one first: below zero if `left` comes first.
func byteOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  guard let first = left.baseAddress, let second = right.baseAddress else { return left.count - right.count }
  let order = Int(memcmp(first, second, min(left.count, right.count)))
  return order == 0 ? left.count - right.count : order
}
