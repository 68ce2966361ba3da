import Synchronization

@testable import CacheCore

/// A codec for texts that counts how often it decodes.
final class CountedCodec: Sendable {
  private let count = Atomic(0)
  private let prefix: String

  init(_ prefix: String = "") { self.prefix = prefix }

  /// How often it has decoded.
  var decoded: Int { count.load(ordering: .relaxed) }

  /// Creates a codec that puts the prefix in front of its values; codecs with another prefix have another identifier.
  func codec() -> PayloadCodec<String> {
    PayloadCodec(
      "test" + prefix, encode: { text in (Array(text.utf8), "text/plain") },
      decode: { [self] bytes, _, _ in
        count.add(1, ordering: .relaxed)
        return prefix + bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      })
  }
}
