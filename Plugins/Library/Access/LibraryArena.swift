internal import CCachectlPlugin

/// Memory for everything that a call lends to a library. It is all freed at once when the call is over.
struct LibraryArena: ~Copyable {
  private static let blockSize = 16_384
  private static let alignment = 16

  private var blocks: [UnsafeMutableRawPointer] = []
  private var rest = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// An array of `count` copies of `value`.
  mutating func array<Value: BitwiseCopyable>(of value: Value, count: Int) -> UnsafeMutableBufferPointer<Value> {
    let values = room(count * MemoryLayout<Value>.stride).bindMemory(to: Value.self)
    values.initialize(repeating: value)
    return values
  }

  /// A copy of `bytes`.
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> cachectl_bytes {
    guard !bytes.isEmpty else { return cachectl_bytes() }
    let room = room(bytes.count)
    room.copyMemory(from: bytes)
    return cachectl_bytes(
      data: UnsafeRawPointer(room.baseAddress)?.assumingMemoryBound(to: UInt8.self), length: bytes.count)
  }

  /// A copy of the bytes of `text`.
  mutating func copy(_ text: String) -> cachectl_bytes {
    var text = text
    return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }

  /// A zero-terminated copy of `text`.
  mutating func terminated(_ text: String) -> UnsafePointer<CChar>? {
    UnsafeRawPointer(copy(text + "\0").data)?.assumingMemoryBound(to: CChar.self)
  }

  private mutating func room(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let size = (byteCount + Self.alignment - 1) / Self.alignment * Self.alignment
    if size > Self.blockSize / 4 { return UnsafeMutableRawBufferPointer(rebasing: block(size)[..<byteCount]) }
    if size > rest.count { rest = block(Self.blockSize) }
    defer { rest = UnsafeMutableRawBufferPointer(rebasing: rest[size...]) }
    return UnsafeMutableRawBufferPointer(rebasing: rest[..<byteCount])
  }

  private mutating func block(_ size: Int) -> UnsafeMutableRawBufferPointer {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: Self.alignment)
    if let start = block.baseAddress { blocks.append(start) }
    return block
  }
}
