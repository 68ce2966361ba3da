/// What there is of a store, found without opening, making or changing it.
public struct StoreInspection: Sendable, Hashable {
  /// Where the store is, or would be: a file, a folder or an address.
  public let path: String
  /// Whether there is a store.
  public let exists: Bool
  /// The files that it consists of, with absolute paths; empty where there is no store, or it is on a server.
  public let files: [String]
  /// The version of the store's format; `nil` where there is no store, or it has none that can be read.
  public let format: Int?
  /// The version that the engine writes. A store of an older one is upgraded when it is opened to be written to.
  public let currentFormat: Int
  /// What is wrong with the store that opening it would hide or remove, in one line; `nil` where the engine finds nothing
  /// of the kind. The rest of the store may be damaged all the same.
  public let hiddenDamage: String?

  /// An inspection with the given fields. Where `exists` is not given, there is a store if it has files.
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
