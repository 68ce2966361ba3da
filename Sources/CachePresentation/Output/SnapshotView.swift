/// A view of one of several snapshots of the same, of which the first comes from the cache and is shown at once.
public protocol SnapshotView: OutputView {
  /// Where this snapshot came from: the line above it where two are shown one after the other.
  var heading: StatusLine { get }
  /// What is said while a newer snapshot is waited for.
  var waiting: StatusLine { get }
}
