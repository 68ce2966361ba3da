/// The content of an answer. What repeats is never held in memory as a whole.
public enum TestBody: Sendable, Hashable {
  /// These bytes.
  case bytes([UInt8])
  /// A pattern over and over, cut off after `count` bytes; without an end where that is `nil`.
  case repeated([UInt8], count: Int?)

  /// How many bytes it has; `nil` where it has no end.
  public var count: Int? {
    switch self {
    case .bytes(let bytes): bytes.count
    case .repeated(_, let count): count
    }
  }

  /// Lends the content to `send` in pieces of at most `size` bytes, until `limit` bytes were lent or `send` refuses one.
  ///
  /// - Returns: whether `send` took everything.
  func forEachPiece(size: Int, limit: Int?, _ send: (ArraySlice<UInt8>) -> Bool) -> Bool {
    let block = block(size: size)
    let end = [count, limit].compactMap { $0 }.min()
    var sent = 0
    while !block.isEmpty, sent < end ?? .max {
      let start = isRepeated ? 0 : sent
      let piece = block[start..<min(start + size, block.count)].prefix(end.map { $0 - sent } ?? size)
      guard send(piece) else { return false }
      sent += piece.count
    }
    return true
  }

  private var isRepeated: Bool { if case .repeated = self { true } else { false } }

  /// The bytes that pieces are taken of: all, or as many whole patterns as fit into one piece.
  private func block(size: Int) -> [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .repeated(let pattern, _):
      let times = pattern.isEmpty ? 0 : max(1, size / pattern.count)
      return Array([[UInt8]](repeating: pattern, count: times).joined())
    }
  }
}
