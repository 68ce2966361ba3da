/// Facts about a store, gathered without opening, creating or changing it.
public struct StoreInspection: Sendable, Hashable {
  /// Where the store is, or would be: a file, a folder or an address.
  public let path: String
  /// Whether the store exists.
  public let exists: Bool
  /// The store's files, with absolute paths; empty if the store does not exist or is on a server.
  public let files: [String]
  /// The version of the store's format; `nil` if there is no store, or if its version cannot be read.
  public let format: Int?
  /// The version that the engine writes. Opening a store of an older version for writing upgrades it.
  public let currentFormat: Int
  /// Damage that opening the store would hide or remove, in one line; `nil` if the engine finds none. The rest of the
  /// store may still be damaged.
  public let hiddenDamage: String?

  /// An inspection. If `exists` is not given, the store exists if it has files.
  public init(
    path: String, exists: Bool? = nil, files: [String], format: Int?, currentFormat: Int, hiddenDamage: String? = nil
  ) {
    self.path = path
    self.exists = exists ?? !files.isEmpty
    self.files = files
    self.format = format
    self.currentFormat = currentFormat
    self.hiddenDamage = hiddenDamage
  }
}
