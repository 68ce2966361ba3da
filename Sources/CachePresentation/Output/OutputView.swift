/// Something that can be shown, in every format: what a command hands over to be printed.
///
/// Views hold data only. The texts they make are made safe for terminals by the types that write them: `JSONText`,
/// `Table.Cell`, `StatusLine`.
public protocol OutputView: Sendable {
  /// The one document that stands for all of it.
  var json: JSONValue { get }
  /// The names of the members of each record, in order: the header of CSV.
  var columns: [String] { get }
  /// One object for each item, with the members named by `columns`.
  var records: [JSONValue] { get }
  /// What people see, ending in a line end; empty where there is nothing to list.
  func table(on screen: Screen, hasHeader: Bool) -> String
  /// A remark for people about what is shown, which goes with the table but is no part of the data.
  var status: StatusLine? { get }
  /// What did not keep the data from being shown, but ought to be known.
  var warnings: [ErrorView] { get }
}

extension OutputView {
  /// No remark.
  public var status: StatusLine? { nil }

  /// No warnings.
  public var warnings: [ErrorView] { [] }
}

/// A view of one thing, whose only record is the document itself.
protocol SingleRecordView: OutputView {}

extension SingleRecordView {
  /// The names of the document's members.
  public var columns: [String] {
    guard case .object(let members) = json else { return [] }
    return members.map(\.name)
  }

  /// The document.
  public var records: [JSONValue] { [json] }
}
