/// Bytes that wait, in pieces of at most 64 KiB: to join them all, or to begin an array for each of the smaller pieces
/// in which libcurl gives them, was measured to cost more than to receive them.
struct ByteQueue {
  private static let pieceSize = 65536

  private var pieces: [[UInt8]] = []
  /// The number of bytes.
  private(set) var count = 0

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    if let last = pieces.indices.last, pieces[last].count + bytes.count <= Self.pieceSize {
      pieces[last].reserveCapacity(Self.pieceSize)
      pieces[last].append(contentsOf: bytes)
    } else {
      pieces.append(Array(bytes))
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
