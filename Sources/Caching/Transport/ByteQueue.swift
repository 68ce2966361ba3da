/// A queue of bytes, in pieces of at most 64 KiB. Measured: joining all of them costs more than receiving them.
struct ByteQueue {
  /// The size of a piece.
  static let pieceSize = 65536

  private var pieces: [[UInt8]] = []
  /// The number of bytes in the queue.
  private(set) var count = 0

  /// Adds bytes at the end. Joins small pieces, so that many of them need no more memory than their bytes.
  mutating func append(_ piece: [UInt8]) {
    count += piece.count
    if let last = pieces.indices.last, pieces[last].count + piece.count <= Self.pieceSize {
      pieces[last] += piece
    } else if !piece.isEmpty {
      pieces.append(piece)
    }
  }

  /// Removes and returns the first piece; `nil` if the queue is empty.
  mutating func takeFirst() -> [UInt8]? {
    if pieces.isEmpty { return nil }
    let piece = pieces.removeFirst()
    count -= piece.count
    return piece
  }
}
