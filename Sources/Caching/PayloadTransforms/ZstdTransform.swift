internal import CZstd
internal import EngineAPI
public import FetchVocabulary
public import CacheCore

/// Compresses payloads by Zstandard (RFC 8878).
///
/// Each payload is a separate frame, which the tool `zstd` reads. A payload stays unchanged if compression saves too
/// little: less than 48 bytes, or less than a sixteenth.
public struct ZstdTransform: PayloadTransform {
  /// The levels of compression: higher ones take longer to write and no longer to read.
  public static let levels = 1...19
  /// The level that compresses a page of a few kilobytes in about twenty microseconds.
  public static let defaultLevel = 3

  /// The most bytes that one byte of a frame can stand for: the smallest block, 4 bytes, holds up to 128 KiB.
  private static let maximumRatio: UInt64 = 1 << 15
  /// The smallest gain, in bytes: about what the metadata says about the compression.
  private static let minimumGain = 48

  private let level: Int32
  private let compressors = ResourcePool<Context>()
  private let decompressors = ResourcePool<Context>()

  /// Creates the transform with the level `defaultLevel`.
  public init() { level = Int32(Self.defaultLevel) }

  /// Creates the transform.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if `level` is not one of `levels`.
  public init(level: Int) throws(CacheError) {
    guard Self.levels.contains(level) else {
      throw CacheError(
        .invalidOption, "the level of the transform 'zstd' cannot be \(level)",
        hint: "give one from \(Self.levels.lowerBound) to \(Self.levels.upperBound)")
    }
    self.level = Int32(level)
  }

  /// "zstd".
  public var name: String { "zstd" }

  /// Compresses `bytes`; `nil` if that saves too little, or they are more than an entry can have to be decompressed.
  public func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    guard bytes.count >= Self.minimumGain, bytes.count <= context.maxEntryBytes else { return nil }
    let limit = bytes.count - max(Self.minimumGain, bytes.count / 16)
    let frame = try compressors.withResource(make: Context.forCompression) { context throws(CacheError) in
      bytes.withUnsafeBufferPointer { bytes in
        [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { output, count in
          ZSTD_CCtx_reset(context.handle, ZSTD_reset_session_and_parameters)
          ZSTD_CCtx_setParameter(context.handle, ZSTD_c_compressionLevel, level)
          let written = ZSTD_compress2(
            context.handle, output.baseAddress, output.count, bytes.baseAddress, bytes.count)
          // An error is a very large number.
          count = written <= limit ? written : 0
        }
      }
    }
    return frame.isEmpty ? nil : (frame, "")
  }

  /// Decompresses the frame in `bytes`.
  ///
  /// - Throws: `CacheError`: `damaged` if it is not one frame; `tooLarge` if it holds more than `context` allows.
  public func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] {
    let size = bytes.withUnsafeBufferPointer { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    // An unknown size and an error are very large numbers.
    guard size <= UInt64(bytes.count) * Self.maximumRatio else { throw Self.damaged(context.key) }
    guard size <= context.maxEntryBytes else {
      throw CacheError(
        .tooLarge,
        "entry \(context.key) has \(size) bytes, more than cache.maxEntryBytes (\(context.maxEntryBytes)) allows",
        hint: "raise cache.maxEntryBytes, or remove the entry", key: context.key.text)
    }
    var written = -1
    let payload = try decompressors.withResource(make: Context.forDecompression) { context throws(CacheError) in
      bytes.withUnsafeBufferPointer { bytes in
        [UInt8](unsafeUninitializedCapacity: max(Int(size), 1)) { output, count in
          let code = ZSTD_decompressDCtx(
            context.handle, output.baseAddress, output.count, bytes.baseAddress, bytes.count)
          guard ZSTD_isError(code) == 0 else { return }
          written = code
          count = code
        }
      }
    }
    guard written == Int(size) else { throw Self.damaged(context.key) }
    return payload
  }

  private static func damaged(_ key: CacheKey) -> CacheError {
    CacheError(.damaged, "entry \(key) is damaged: its payload cannot be decompressed", key: key.text)
  }
}

/// A context of libzstd. A pool keeps it: making one takes longer than compressing a page of a few kilobytes.
///
/// It is `@unchecked Sendable` because it is in the pool or with the one call that has taken it out.
private final class Context: @unchecked Sendable {
  let handle: OpaquePointer
  private let free: (OpaquePointer) -> Void

  init(_ handle: OpaquePointer?, free: @escaping (OpaquePointer) -> Void) throws(CacheError) {
    guard let handle else { throw CacheError(.failed, "there is no memory for the transform 'zstd'") }
    self.handle = handle
    self.free = free
  }

  deinit { free(handle) }

  static func forCompression() throws(CacheError) -> Context {
    try Context(ZSTD_createCCtx()) { ZSTD_freeCCtx($0) }
  }

  static func forDecompression() throws(CacheError) -> Context {
    try Context(ZSTD_createDCtx()) { ZSTD_freeDCtx($0) }
  }
}
