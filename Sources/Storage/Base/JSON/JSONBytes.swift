/// The bytes of a document, followed by zeros. No byte of JSON is zero, so reading stops there by itself, and `padding`
/// bytes can be loaded from any position.
final class JSONBytes {
  /// The number of zeros after the document.
  static let padding = 24

  /// The first byte. The pointer is valid as long as this object lives.
  let start: UnsafePointer<UInt8>
  /// The number of bytes in the document.
  let count: Int
  private let memory: UnsafeMutableBufferPointer<UInt8>

  /// Copies `bytes`. That costs little compared with reading them, and makes bounds checks unnecessary.
  init(_ bytes: Span<UInt8>) {
    let start = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count + Self.padding)
    bytes.withUnsafeBufferPointer { bytes in
      if let first = bytes.baseAddress { start.initialize(from: first, count: bytes.count) }
    }
    (start + bytes.count).initialize(repeating: 0, count: Self.padding)
    (self.start, count) = (UnsafePointer(start), bytes.count)
    memory = UnsafeMutableBufferPointer(start: start, count: bytes.count + Self.padding)
  }

  deinit { memory.deallocate() }

  /// The eight bytes from `offset` on, as a little-endian number.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(start + offset).loadUnaligned(as: UInt64.self))
  }

  /// The sixteen bytes from `offset` on.
  @inline(__always)
  func vector(at offset: Int) -> SIMD16<UInt8> {
    UnsafeRawPointer(start + offset).loadUnaligned(as: SIMD16<UInt8>.self)
  }

  /// The bytes in `range`.
  @inline(__always)
  func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: start + range.lowerBound, count: range.count)
  }
}
