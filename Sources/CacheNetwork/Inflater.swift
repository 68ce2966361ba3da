internal import CZlib

/// Undoes the compressions of HTTP that zlib knows (RFC 9110, section 8.4.1).
struct Inflater {
  /// Why content cannot be decompressed.
  enum Failure: Error {
    /// It is not what its coding says, or cut off.
    case damaged
    /// It becomes longer than is allowed.
    case tooLarge
  }

  private static let pieceSize = 65536
  /// More are made only to keep the receiver busy: each may be empty.
  private static let maximumMembers = 65536

  private enum Format {
    case gzip
    /// The zlib format, or what it holds: servers send either.
    case deflate
  }

  private let format: Format

  /// What undoes `coding`, written in lower case; `nil` where nothing here does.
  init?(_ coding: String) {
    switch coding {
    case "gzip", "x-gzip": format = .gzip
    case "deflate": format = .deflate
    default: return nil
    }
  }

  /// The content of which `bytes` are the compressed form; at most `limit` bytes.
  func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    switch format {
    case .gzip: return try Self.inflate(bytes, window: 15 + 16, limit: limit)
    case .deflate:
      do throws(Failure) {
        return try Self.inflate(bytes, window: 15, limit: limit)
      } catch .damaged {
        return try Self.inflate(bytes, window: -15, limit: limit)
      }
    }
  }

  /// Decompresses one member after the other, as gzip allows; what follows the last one and is none is left out.
  private static func inflate(_ bytes: [UInt8], window: Int32, limit: Int) throws(Failure) -> [UInt8] {
    var content: [UInt8] = []
    var (offset, members) = (0, 0)
    repeat {
      members += 1
      guard members <= maximumMembers else { throw .damaged }
      var stream = try Stream(window: window)
      offset = try stream.inflate(bytes, from: offset, into: &content, limit: limit)
    } while bytes[offset...].starts(with: [0x1F, 0x8B]) && window > 15
    return content
  }

  /// A stream of zlib.
  private struct Stream: ~Copyable {
    private let state: UnsafeMutablePointer<z_stream>

    init(window: Int32) throws(Failure) {
      state = .allocate(capacity: 1)
      state.initialize(to: z_stream())
      guard inflateInit2_(state, window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw .damaged
      }
    }

    deinit {
      inflateEnd(state)
      state.deallocate()
    }

    /// Adds the content of the member that begins at `start` of `bytes` to `content`; returns where it ends.
    mutating func inflate(
      _ bytes: [UInt8], from start: Int, into content: inout [UInt8], limit: Int
    ) throws(Failure) -> Int {
      var piece = [UInt8](repeating: 0, count: pieceSize)
      var offset = start
      while true {
        let (code, used, count) = step(bytes, from: offset, &piece)
        offset += used
        guard count <= limit - content.count else { throw .tooLarge }
        content += piece.prefix(count)
        if code == Z_STREAM_END { return offset }
        guard code == Z_OK, used > 0 || count > 0 else { throw .damaged }
      }
    }

    private func step(
      _ input: [UInt8], from offset: Int, _ piece: inout [UInt8]
    ) -> (code: Int32, used: Int, count: Int) {
      let size = min(input.count - offset, Int(UInt32.max))
      return input.withUnsafeBufferPointer { input in
        piece.withUnsafeMutableBufferPointer { piece in
          // zlib does not write there.
          state.pointee.next_in = input.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
          state.pointee.avail_in = UInt32(size)
          state.pointee.next_out = piece.baseAddress
          state.pointee.avail_out = UInt32(piece.count)
          let code = CZlib.inflate(state, Z_NO_FLUSH)
          return (code, size - Int(state.pointee.avail_in), piece.count - Int(state.pointee.avail_out))
        }
      }
    }
  }
}
