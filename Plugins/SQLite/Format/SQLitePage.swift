/// A page of a b-tree, possibly damaged.
struct SQLitePage {
  enum Kind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13
  }

  let kind: Kind
  private let content: SQLiteBytes
  /// The offsets of the cells, in order.
  private let cells: [Int]
  private let headerOffset: Int

  /// The page with `content`; `nil` if it is not a b-tree page.
  init?(_ content: SQLiteBytes, number: Int) {
    // The first page starts with the file header.
    headerOffset = number == 1 ? 100 : 0
    guard let byte = content.number(at: headerOffset, 1), let kind = Kind(rawValue: UInt8(byte)),
      let count = content.number(at: headerOffset + 3, 2)
    else { return nil }
    let start = headerOffset + (kind == .tableInterior || kind == .indexInterior ? 12 : 8)
    (self.kind, self.content) = (kind, content)
    // Like SQLite, use only as many bits of an offset as an offset within the page has.
    let mask = content.bytes.count - 1
    cells = (0..<count).compactMap { content.number(at: start + 2 * $0, 2).map { $0 & mask } }
  }

  var isInterior: Bool { kind == .tableInterior || kind == .indexInterior }

  /// The child pages, each before the cell at its position; the last one comes after all cells.
  var children: [Int] {
    guard isInterior else { return [] }
    return (cells + [headerOffset + 8]).map { content.number(at: $0, 4) ?? 0 }
  }

  /// The content of a cell: the row number, if the page belongs to a table, and the record.
  struct Cell {
    let row: Int64
    let record: SQLiteRecord
  }

  /// The cells in order; `nil` for each unreadable cell. Interior pages of a table have none.
  func cells(in pages: SQLitePages) -> [Cell?] {
    kind == .tableInterior ? [] : cells.map { cell(at: $0, in: pages) }
  }

  private func cell(at start: Int, in pages: SQLitePages) -> Cell? {
    var offset = start + (kind == .indexInterior ? 4 : 0)
    guard let size = content.variable(at: &offset), size >= 0 else { return nil }
    var row = 0
    if kind == .tableLeaf {
      guard let number = content.variable(at: &offset) else { return nil }
      row = number
    }
    guard let bytes = payload(at: offset, size, in: pages), let record = SQLiteRecord(bytes) else { return nil }
    return Cell(row: Int64(row), record: record)
  }

  /// The payload of a cell: the part in the page, followed by its chain of overflow pages.
  private func payload(at offset: Int, _ size: Int, in pages: SQLitePages) -> [UInt8]? {
    let usable = pages.usableSize
    let largest = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if size <= largest { return content.slice(at: offset, size).map { Array($0) } }
    guard size / (usable - 4) <= pages.count else { return nil }
    let smallest = (usable - 12) * 32 / 255 - 23
    let fitting = smallest + (size - smallest) % (usable - 4)
    let local = fitting <= largest ? fitting : smallest
    guard var bytes = content.slice(at: offset, local).map({ Array($0) }),
      var next = content.number(at: offset + local, 4)
    else { return nil }
    bytes.reserveCapacity(size)
    while bytes.count < size {
      guard let page = pages.page(next), let part = page.slice(at: 4, min(size - bytes.count, usable - 4)),
        let following = page.number(at: 0, 4)
      else { return nil }
      bytes += part
      next = following
    }
    return bytes
  }
}

/// Bytes that may be damaged: every access returns `nil` if it is out of range.
struct SQLiteBytes {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The big-endian number in `count` bytes at `offset`.
  func number(at offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, count <= 8, offset <= bytes.count - count else { return nil }
    var value: UInt64 = 0
    for byte in bytes[offset..<offset + count] { value = value << 8 | UInt64(byte) }
    return Int(truncatingIfNeeded: value)
  }

  /// The same number, signed, in two's complement.
  func signed(at offset: Int, _ count: Int) -> Int64? {
    guard count > 0, let value = number(at: offset, count) else { return nil }
    let unused = 64 - 8 * count
    return (Int64(truncatingIfNeeded: value) << unused) >> unused
  }

  /// SQLite's variable-length integer at `offset`, which moves behind it: seven bits per byte, all eight of the ninth.
  func variable(at offset: inout Int) -> Int? {
    var value: UInt64 = 0
    for place in 0..<9 {
      guard let byte = number(at: offset, 1) else { return nil }
      offset += 1
      if place == 8 { return Int(truncatingIfNeeded: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { break }
    }
    return Int(truncatingIfNeeded: value)
  }

  /// `count` bytes from `offset` on.
  func slice(at offset: Int, _ count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, count >= 0, count <= bytes.count, offset <= bytes.count - count else { return nil }
    return bytes[offset..<offset + count]
  }
}
