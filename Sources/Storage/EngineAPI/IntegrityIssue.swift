/// A problem that an integrity check found.
public struct IntegrityIssue: Sendable, Hashable {
  /// A kind of damage. Engines can add their own.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    /// The kind's name, in camel case.
    public let rawValue: String

    /// The kind called `rawValue`.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The payload or metadata of an entry differs from the written one.
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
  /// The finding, in one line.
  public let message: String

  /// An issue with one entry, or with the structure of the store if `key` is `nil`.
  public init(key: CacheKey? = nil, kind: Kind, message: String) {
    self.key = key
    self.kind = kind
    self.message = message
  }
}

/// The cause of a scan's error `damaged` if only one entry cannot be listed.
public struct UnreadableEntry: Error {
  /// The key of the entry.
  public let key: CacheKey

  /// The position behind the entry, at which a scan can continue. `nil` if the engine does not say: if it is `ordered`,
  /// a scan continues after the key. An engine that is not `ordered` returns a position even if nothing follows: the
  /// page from there is then empty.
  public let next: String?

  /// The cause for the entry under `key`.
  public init(_ key: CacheKey, next: String? = nil) {
    self.key = key
    self.next = next
  }
}

extension CacheError {
  /// Whether the error says that this one entry cannot be read back. Other entries might still be readable.
  public var isUnreadableEntry: Bool { code == .damaged || code == .unsupportedFormat }
}
