/// An engine that can tell cheaply whether anything in its store has changed.
///
/// This lets a reader reuse what it has already read and decoded.
public protocol ChangeCounting: StorageEngine {
  /// A number that changes with each batch that changed something, whether this handle, another handle or another
  /// process applied it. While it stays the same, every read finds what it found before.
  ///
  /// To cache a result, get the number *before* reading.
  ///
  /// - Returns: the number, which has no other meaning; `nil` if the engine cannot tell at the moment.
  /// - Throws: `CacheError`: `closed`, and the errors of a read.
  /// - Complexity: constant, without a system call, and much cheaper than a read.
  func changeCount() throws(CacheError) -> UInt64?
}

extension ChangeCounting {
  /// This engine.
  public var changeCounter: (any ChangeCounting)? { self }
}
