// The error of every layer, without the rest of Base: the vocabulary is all that a domain imports.
@_exported public import struct Base.CacheError

extension CacheError {
  /// Whether the origin failed in a way that allows a stale value to answer in its place. A warning for which this is
  /// `false` comes from the storage.
  public var mayBeStoodInFor: Bool { [.originUnreachable, .invalidAnswer].contains(code) }
}
