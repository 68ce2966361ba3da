import CZlib

/// The compression of RFC 1952.
public enum Gzip {
  /// `bytes` as one member of a gzip file.
  public static func compress(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let window = 15 + 16  // The largest window, and the header of gzip in place of zlib's.
    deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Int32(window), 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = bytes
    let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
    return input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        deflate(&stream, Z_FINISH)
        count = Int(stream.total_out)
      }
    }
  }
}
