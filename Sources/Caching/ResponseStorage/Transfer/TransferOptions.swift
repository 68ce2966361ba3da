/// How to write entries to a store that may already have entries under the same keys.
public struct TransferOptions: Sendable, Hashable {
  /// Whether to overwrite entries that were stored later than the new ones.
  public let overwrites: Bool
  /// Whether only to count what would be done.
  public let isDryRun: Bool

  /// Creates options.
  public init(overwrites: Bool = false, isDryRun: Bool = false) {
    self.overwrites = overwrites
    self.isDryRun = isDryRun
  }
}

/// Called with the progress of a transfer: the number of entries done, and the total if it is known.
public typealias TransferProgress = (_ done: Int, _ total: Int?) -> Void
