internal import CZlib
internal import CZstd
internal import HTTPCaching

/// A content coding that this module can decode (RFC 9110, section 8.4.1; RFC 8878).
enum ContentCoding: Sendable {
  case gzip
  /// The zlib format, or raw deflate data: servers send both.
  case deflate
  case zstd

  /// The value of `Accept-Encoding` that asks for these codings.
  private static let accepted = "gzip, deflate, zstd"

  /// `request`, which asks for these codings if it asks for no others; `nil` if it asks for part of the content: part of
  /// compressed content cannot be decompressed.
  static func accepting(_ request: HTTP.Request) -> HTTP.Request? {
    if request.fields.contains("range") { return nil }
    var request = request
    if !request.fields.contains("accept-encoding") { request.fields.append("Accept-Encoding", accepted) }
    return request
  }

  /// How many codings to undo. A server that applies more only wants to keep the client busy: the rest stays.
  private static let maximumCount = 4

  private init?(_ name: String) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    case "zstd": self = .zstd
    default: return nil
    }
  }

  /// The codings in `value`, a `Content-Encoding` field, that can be undone, in that order: the last one applied comes
  /// first. `rest` is the remaining value of the field; `nil` if nothing remains.
  static func undoable(_ value: String) -> (codings: [ContentCoding], rest: String?) {
    var names = FieldList.members(value).filter { $0.lowercased() != "identity" }
    var codings: [ContentCoding] = []
    while codings.count < maximumCount, let coding = names.last.flatMap({ ContentCoding(String($0)) }) {
      codings.append(coding)
      names.removeLast()
    }
    return (codings, names.isEmpty ? nil : names.joined(separator: ", "))
  }
}

/// Removes one coding, piece by piece.
enum Decompressor: ~Copyable {
  case zlib(ZlibStream)
  case zstd(ZstdStream)

  /// The result of one step.
  struct Step {
    /// The number of input bytes used.
    let used: Int
    /// The bytes decoded from them.
    let output: [UInt8]
    /// Whether a complete part of the content has ended here. More might follow.
    let isAtEnd: Bool
  }

  /// The content does not match its coding.
  struct Damage: Error {}

  /// The largest number of bytes that a step returns.
  static let pieceSize = 65_536

  /// Creates a decompressor for content that begins with `start`: its first two bytes, if it has that many.
  init(_ coding: ContentCoding, start: ArraySlice<UInt8>) throws(Damage) {
    self =
      switch coding {
      case .gzip: .zlib(try ZlibStream(window: 15 + 16))
      case .deflate: .zlib(try ZlibStream(window: Self.isZlib(start) ? 15 : -15))
      case .zstd: .zstd(try ZstdStream())
      }
  }

  /// Whether `start` is a header of the zlib format (RFC 1950, section 2.2) rather than raw deflate data.
  private static func isZlib(_ start: ArraySlice<UInt8>) -> Bool {
    guard let method = start.first, let flags = start.dropFirst().first else { return false }
    return method & 0x0F == 8 && (Int(method) << 8 + Int(flags)).isMultiple(of: 31)
  }

  /// Decodes bytes of `input` from `offset` on.
  func step(_ input: [UInt8], from offset: Int) throws(Damage) -> Step {
    switch self {
    case .zlib(let stream): try stream.step(input, from: offset)
    case .zstd(let stream): try stream.step(input, from: offset)
    }
  }
}

struct ZlibStream: ~Copyable {
  private let state: UnsafeMutablePointer<z_stream>

  init(window: Int32) throws(Decompressor.Damage) {
    state = .allocate(capacity: 1)
    state.initialize(to: z_stream())
    guard inflateInit2_(state, window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Decompressor.Damage()
    }
  }

  deinit {
    inflateEnd(state)
    state.deallocate()
  }

  func step(_ input: [UInt8], from offset: Int) throws(Decompressor.Damage) -> Decompressor.Step {
    let size = min(input.count - offset, Int(UInt32.max))
    var code = Z_OK
    let output = input.withUnsafeBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: Decompressor.pieceSize) { piece, count in
        // zlib only reads from it.
        state.pointee.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
        state.pointee.avail_in = UInt32(size)
        state.pointee.next_out = piece.baseAddress
        state.pointee.avail_out = UInt32(piece.count)
        code = inflate(state, Z_NO_FLUSH)
        count = piece.count - Int(state.pointee.avail_out)
      }
    }
    // Z_BUF_ERROR: there is no more input for now.
    guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(code) else { throw Decompressor.Damage() }
    let used = size - Int(state.pointee.avail_in)
    // Another member can follow, as gzip allows.
    if code == Z_STREAM_END { inflateReset(state) }
    return Decompressor.Step(used: used, output: output, isAtEnd: code == Z_STREAM_END)
  }
}

/// A Zstandard stream.
struct ZstdStream: ~Copyable {
  /// The largest window that an HTTP decoder must support is 8 MiB (RFC 9659, section 3).
  private static let windowLog: Int32 = 23

  private let context: OpaquePointer

  init() throws(Decompressor.Damage) {
    guard let context = ZSTD_createDCtx() else { throw Decompressor.Damage() }
    self.context = context
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)
  }

  deinit { ZSTD_freeDCtx(context) }

  func step(_ input: [UInt8], from offset: Int) throws(Decompressor.Damage) -> Decompressor.Step {
    var (used, code) = (0, 0)
    let output = input.withUnsafeBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: Decompressor.pieceSize) { piece, count in
        var source = ZSTD_inBuffer(src: input.baseAddress.map { $0 + offset }, size: input.count - offset, pos: 0)
        var target = ZSTD_outBuffer(dst: piece.baseAddress, size: piece.count, pos: 0)
        code = ZSTD_decompressStream(context, &target, &source)
        (used, count) = (source.pos, target.pos)
      }
    }
    guard ZSTD_isError(code) == 0 else { throw Decompressor.Damage() }
    return Decompressor.Step(used: used, output: output, isAtEnd: code == 0)
  }
}
