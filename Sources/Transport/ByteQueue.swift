/// Bytes that wait, in pieces of at most 64 KiB: to join them all was measured to cost more than to receive them.
struct ByteQueue {
  /// The size of a piece.
  static let pieceSize = 65536

  private var pieces: [[UInt8]] = []
  /// The number of bytes.
  private(set) var count = 0

  /// Adds bytes at the end. Small pieces are joined, so that many of them need no more memory than their bytes.
  mutating func append(_ piece: [UInt8]) {
    count += piece.count
    if let last = pieces.indices.last, pieces[last].count + piece.count <= Self.pieceSize {
      pieces[last] += piece
    } else if !piece.isEmpty {
      pieces.append(piece)
    }
  }

  /// Takes the first piece; `nil` where there is none.
  mutating func takeFirst() -> [UInt8]? {
    if pieces.isEmpty { return nil }
    let piece = pieces.removeFirst()
    count -= piece.count
    return piece
  }
}
