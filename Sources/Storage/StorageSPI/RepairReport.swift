/// A problem that an integrity check found.
public struct IntegrityIssue: Sendable, Hashable {
  /// A kind of damage. Engines may add their own.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    /// The kind's name, in camel case.
    public let rawValue: String

    /// The kind called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The payload or metadata of an entry differs from what was written.
    public static let checksumMismatch = Kind(rawValue: "checksumMismatch")
    /// An entry cannot be decoded.
    public static let undecodable = Kind(rawValue: "undecodable")
    /// The structure that holds the entries is damaged.
    public static let structure = Kind(rawValue: "structure")
  }

  /// The damaged entry; `nil` if the structure of the store is damaged.
  public let key: CacheKey?
  /// The kind of damage.
  public let kind: Kind
  /// What was found, in one line.
  public let message: String

  /// An issue with one entry, or with the structure of the store if `key` is `nil`.
  public init(key: CacheKey? = nil, kind: Kind, message: String) {
    self.key = key
    self.kind = kind
    self.message = message
  }
}

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

/// How to repair a store.
public struct RepairPlan: Sendable {
  /// What to append to the names of the damaged files when moving them aside, such as ".damaged-2026-01-31T120000Z". If
  /// such a file exists already, the engine adds a number.
  public let suffix: String
  /// Tells whether an entry still has the content that was written. Entries that fail the test are lost.
  public let isSound: @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Bool

  /// A plan that keeps the entries for which `isSound` returns `true`.
  public init(
    suffix: String, isSound: @escaping @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Bool
  ) {
    self.suffix = suffix
    self.isSound = isSound
  }
}
