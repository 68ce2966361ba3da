/// How entries are written to a store that may hold entries under the same keys.
public struct TransferOptions: Sendable, Hashable {
  /// Whether entries that were stored later than those that are written are overwritten too.
  public let overwrites: Bool
  /// Whether it is only counted what would be done.
  public let isDryRun: Bool

  /// Options with the given fields.
  public init(overwrites: Bool = false, isDryRun: Bool = false) {
    self.overwrites = overwrites
    self.isDryRun = isDryRun
  }
}

/// Told how far a transfer has come: the number of entries done, and of all where it is known.
public typealias TransferProgress = (_ done: Int, _ total: Int?) -> Void
