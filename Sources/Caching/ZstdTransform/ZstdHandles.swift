internal import CZstd
internal import ResponseStorage
internal import Synchronization

/// A dictionary, prepared for both directions.
///
/// It is `@unchecked Sendable` because libzstd only reads a prepared dictionary, from any number of threads.
final class ZstdDictionary: TransformDictionary, @unchecked Sendable {
  /// A dictionary prepared for compression at one level.
  private final class Compression: @unchecked Sendable {
    let level: Int32
    let handle: OpaquePointer

    init?(_ bytes: [UInt8], level: Int32) {
      guard let handle = ZSTD_createCDict(bytes, bytes.count, level) else { return nil }
      (self.level, self.handle) = (level, handle)
    }

    deinit { ZSTD_freeCDict(handle) }
  }

  private let bytes: [UInt8]
  /// Made by the first write: a process that only reads has no use for it.
  private let compression = Mutex<Compression?>(nil)
  let forDecompression: OpaquePointer

  /// Prepares the dictionary `bytes`; `nil` if they are not one.
  init?(_ bytes: [UInt8]) {
    guard ZDICT_getDictID(bytes, bytes.count) != 0, let handle = ZSTD_createDDict(bytes, bytes.count) else {
      return nil
    }
    (self.bytes, forDecompression) = (bytes, handle)
  }

  deinit { ZSTD_freeDDict(forDecompression) }

  /// The dictionary for compression at `level`, which is the same in all calls.
  func forCompression(_ level: Int32) -> OpaquePointer? {
    compression.withLock { compression in
      if compression?.level != level { compression = Compression(bytes, level: level) ?? compression }
      return compression?.handle
    }
  }
}

/// Contexts of libzstd, reused: making one takes longer than compressing a page of a few kilobytes.
///
/// It is `@unchecked Sendable` because a context is in the pool or with the one call that has taken it out.
final class ContextPool: @unchecked Sendable {
  /// How many contexts to keep. One for compression may take a megabyte.
  private static let capacity = 4

  /// The contexts that no call is using.
  private struct Idle: @unchecked Sendable {
    var contexts: [OpaquePointer] = []
  }

  private let make: @Sendable () -> OpaquePointer?
  private let free: @Sendable (OpaquePointer) -> Void
  private let idle = Mutex(Idle())

  /// Creates an empty pool of contexts that `make` makes and `free` frees.
  init(make: @escaping @Sendable () -> OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
    (self.make, self.free) = (make, free)
  }

  deinit { for context in idle.withLock(\.contexts) { free(context) } }

  /// Calls `body` with a context; `nil` if there is no memory for one.
  func use<Output>(_ body: (OpaquePointer) -> Output) -> Output? {
    guard let context = idle.withLock({ $0.contexts.popLast() }) ?? make() else { return nil }
    defer { if !keep(context) { free(context) } }
    return body(context)
  }

  private func keep(_ context: OpaquePointer) -> Bool {
    idle.withLock { idle in
      guard idle.contexts.count < Self.capacity else { return false }
      idle.contexts.append(context)
      return true
    }
  }
}
