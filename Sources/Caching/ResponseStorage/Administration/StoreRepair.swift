public import StorageSPI

/// The result of repairing a store.
public struct RepairReport: Sendable {
  /// The number of entries that were saved.
  public let saved: Int
  /// What was lost. An issue with a key is a lost entry; one without a key is a place where entries may have been, with
  /// no way to tell which. It is empty only if it is certain that no entry was lost.
  public let lost: [IntegrityIssue]
  /// Damage that cost no entry.
  public let mended: [IntegrityIssue]
  /// Where the damaged files are now; empty if nothing was wrong, and so nothing was moved.
  public let movedTo: [String]

  /// A report of one repair, or of a preview, which moves no files.
  public init(
    saved: Int, lost: [IntegrityIssue] = [], mended: [IntegrityIssue] = [], movedTo: [String] = []
  ) {
    self.saved = saved
    self.lost = lost
    self.mended = mended
    self.movedTo = movedTo
  }
}
