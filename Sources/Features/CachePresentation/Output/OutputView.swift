/// Data that a command prints, in every format.
///
/// Views contain data only. The types that write their texts make them safe for terminals: `JSONText`, `Table.Cell`,
/// `StatusLine`.
public protocol OutputView: Sendable {
  /// The view as one document.
  var json: JSONValue { get }
  /// The names of the members of each record, in order: the CSV header.
  var columns: [String] { get }
  /// One object for each item, with the members named by `columns`.
  var records: [JSONValue] { get }
  /// The text for people, ending in a line end; empty if there is nothing to list.
  func table(on screen: Screen, hasHeader: Bool) -> String
  /// A remark for people about the table, which is not part of the data.
  var status: StatusLine? { get }
  /// Problems that did not stop the data from being shown.
  var warnings: [ErrorView] { get }
}

extension OutputView {
  /// No remark.
  public var status: StatusLine? { nil }

  /// No warnings.
  public var warnings: [ErrorView] { [] }
}

/// A view of a single thing, whose only record is the document itself.
package protocol SingleRecordView: OutputView {}

extension SingleRecordView {
  /// The names of the document's members.
  public var columns: [String] {
    guard case .object(let members) = json else { return [] }
    return members.map(\.name)
  }

  /// The document.
  public var records: [JSONValue] { [json] }
}

/// A view of one of several snapshots of a resource. The first comes from the cache and is shown at once.
public protocol SnapshotView: OutputView {
  /// The line above this snapshot, if two are shown one after the other, that says where it came from.
  var heading: StatusLine { get }
  /// The remark while a newer snapshot is on its way.
  var waiting: StatusLine { get }
}
