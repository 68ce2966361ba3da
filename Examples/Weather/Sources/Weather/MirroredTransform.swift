public import CachectlTool

/// A payload transform: it stores payloads backwards.
public struct MirroredTransform: PayloadTransform {
  /// "mirrored".
  public var name: String { "mirrored" }

  /// Reverses `bytes`.
  public func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? {
    (bytes.withUnsafeBufferPointer { $0.reversed() }, "")
  }

  /// Reverses `bytes` again.
  public func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] {
    bytes.withUnsafeBufferPointer { $0.reversed() }
  }
}

/// The section `transforms.mirrored`, which has no keys. `cache.transforms` names the transform.
public struct MirroredSettings: TransformSettings {
  /// "transforms.mirrored".
  public static var path: String { "transforms.mirrored" }

  /// Declares nothing.
  public init(_ keys: inout SectionReader) {}

  /// Makes the transform.
  public func makeTransform() throws(CacheError) -> any PayloadTransform { MirroredTransform() }
}
