/// What came of repairing a store.
public struct RepairReport: Sendable {
  /// The number of entries that were saved.
  public let saved: Int
  /// What was found wrong: with a key where an entry of that name was lost, without one where it is not known what was
  /// there.
  public let lost: [IntegrityIssue]
  /// Where the damaged files are now; empty where nothing was wrong and so nothing was moved.
  public let movedTo: [String]

  /// A report with the given fields.
  public init(saved: Int, lost: [IntegrityIssue] = [], movedTo: [String] = []) {
    self.saved = saved
    self.lost = lost
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
