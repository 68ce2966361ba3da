/// What came of repairing a store.
public struct RepairReport: Sendable {
  /// The number of entries that were saved.
  public let saved: Int
  /// What was lost: an issue with a key is an entry that was lost; one without a key is a place where entries may have
  /// been, and nothing tells which. Empty only where it is known that no entry was lost.
  public let lost: [IntegrityIssue]
  /// What was wrong and cost no entry.
  public let mended: [IntegrityIssue]
  /// Where the damaged files are now; empty where nothing was wrong and so nothing was moved.
  public let movedTo: [String]

  /// A report with the given fields.
  public init(
    saved: Int, lost: [IntegrityIssue] = [], mended: [IntegrityIssue] = [], movedTo: [String] = []
  ) {
    self.saved = saved
    self.lost = lost
    self.mended = mended
    self.movedTo = movedTo
  }
}

/// How a store is repaired.
public struct RepairPlan: Sendable {
  /// What is appended to the names of the damaged files when they are moved aside, such as
  /// ".damaged-2026-01-31T120000Z"; a number is added where such a file is there already.
  public let suffix: String
  /// Tells whether an entry that was read is what was once written. Those that are not are lost.
  public let isSound: @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Bool

  /// A plan with the given fields.
  public init(
    suffix: String, isSound: @escaping @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Bool
  ) {
    self.suffix = suffix
    self.isSound = isSound
  }
}
