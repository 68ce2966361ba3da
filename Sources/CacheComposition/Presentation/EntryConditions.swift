public import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// Which entries of a store are meant: those that meet every condition given.
public struct EntryConditions: Sendable, Hashable {
  /// The namespace they are in.
  public var namespace: String?
  /// What their keys begin with.
  public var prefix: String?
  /// How they stand now.
  public var state: EntryRow.State?
  /// How long ago they must have been stored at least.
  public var minimumAge: Duration?

  /// The given conditions; without any, all entries.
  public init(
    namespace: String? = nil, prefix: String? = nil, state: EntryRow.State? = nil, minimumAge: Duration? = nil
  ) {
    self.namespace = namespace
    self.prefix = prefix
    self.state = state
    self.minimumAge = minimumAge
  }

  var selection: EntrySelection {
    EntrySelection(
      namespace: namespace, prefix: prefix, state: state.flatMap { EntryState(rawValue: $0.rawValue) },
      minimumAge: minimumAge)
  }
}
