public import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// Which entries of a store are meant: those that meet every condition given.
public struct EntryConditions: Sendable, Hashable {
  /// The namespace they are in.
  public var namespace: String?
  /// What their keys begin with.
  public var prefix: String?
  /// What their whole keys match: `*` stands for any text, everything else for itself.
  public var pattern: String?
  /// How they stand now.
  public var state: EntryRow.State?
  /// How long ago they must have been stored at least.
  public var minimumAge: Duration?

  /// The given conditions; without any, all entries.
  public init(
    namespace: String? = nil, prefix: String? = nil, pattern: String? = nil, state: EntryRow.State? = nil,
    minimumAge: Duration? = nil
  ) {
    self.namespace = namespace
    self.prefix = prefix
    self.pattern = pattern
    self.state = state
    self.minimumAge = minimumAge
  }

  var selection: EntrySelection {
    EntrySelection(
      namespace: namespace, prefix: prefix, pattern: pattern.map { GlobPattern($0) },
      state: state.flatMap { EntryState(rawValue: $0.rawValue) }, minimumAge: minimumAge)
  }
}

/// An order in which entries are listed.
public enum ListingOrder: String, Sendable, CaseIterable {
  /// By key.
  case key
  /// The largest first.
  case size
  /// What was stored last first.
  case stored
  /// What was used last first.
  case used

  var order: EntryOrder { EntryOrder(rawValue: rawValue) ?? .key }
}
