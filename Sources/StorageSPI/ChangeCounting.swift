/// An engine that tells at once whether anything in its store has changed.
///
/// It lets a reader go on using what it has already read and decoded, without reading it again.
public protocol ChangeCounting: StorageEngine {
  /// A number that is another one after each batch that changed something, whoever applied it: through this handle,
  /// through another one, or in another process. As long as it stays the same, every read finds what it found before.
  ///
  /// To keep what was read, ask for the number *before* reading it.
  ///
  /// - Returns: the number, which means nothing by itself; `nil` where the engine cannot tell at the moment.
  /// - Throws: `StorageError`: `closed`, and what a read would report.
  /// - Complexity: constant, without a system call, and well below a read.
  func changeCount() throws(StorageError) -> UInt64?
}

extension ChangeCounting {
  /// This engine.
  public var changeCounter: (any ChangeCounting)? { self }
}
