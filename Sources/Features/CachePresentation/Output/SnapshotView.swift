/// A view of one of several snapshots of a resource. The first comes from the cache and is shown at once.
public protocol SnapshotView: OutputView {
  /// The line above this snapshot, if two are shown one after the other, that says where it came from.
  var heading: StatusLine { get }
  /// The remark while a newer snapshot is on its way.
  var waiting: StatusLine { get }
}
