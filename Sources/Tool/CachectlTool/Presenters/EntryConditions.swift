internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// Selects the entries that meet every given condition.
struct EntryConditions: Sendable, Hashable {
  /// Their namespace.
  var namespace: String?
  /// The beginning of their keys.
  var prefix: String?
  /// A pattern for their whole keys: `*` stands for any text, every other character for itself.
  var pattern: String?
  /// Their current state.
  var state: EntryRow.State?
  /// The minimum time since they were stored.
  var minimumAge: Duration?

  /// The conditions; without any, all entries are selected.
  init(
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
