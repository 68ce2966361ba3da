public import FetchVocabulary

/// A resource that is one thing, and can be shown as its fields. A new resource needs only this.
public protocol PresentableDetails: Sendable {
  /// The resource's name.
  static var resource: String { get }
  /// The members of its document, which follow the members of every fetch.
  var members: [JSONValue.Member] { get }
  /// Its fields for people, one per line.
  var fields: [(name: String, value: Table.Cell)] { get }
}

/// A fetched thing, and where it came from.
public struct DetailsView<Thing: PresentableDetails>: SnapshotView, SingleRecordView {
  private let thing: Thing
  private let origin: SnapshotOrigin

  /// The view of `snapshot`, which came through the store called `backend` (`nil` if there was no store).
  public init(_ snapshot: Snapshot<Thing>, backend: String?) {
    thing = snapshot.value
    origin = SnapshotOrigin(snapshot, backend: backend)
  }

  /// The document of a fetch.
  public var json: JSONValue { .object(origin.members(resource: Thing.resource) + thing.members) }

  /// The fields for people.
  public func table(on screen: Screen, hasHeader: Bool) -> String { Details.text(thing.fields, on: screen) }

  /// Where the thing came from.
  public var status: StatusLine? { origin.status([]) }

  /// Where the thing came from, such as "From cache (ENGINE), stored 3 min ago, fresh for 57 min:".
  public var heading: StatusLine { origin.heading }

  /// The remark while the origin is asked for a newer state.
  public var waiting: StatusLine { origin.status(["Asking the origin"]) }

  /// The failures on the way to this thing.
  public var warnings: [ErrorView] { origin.warnings }
}

/// The fields of one thing, one per line, for people.
package enum Details {
  /// The lines of `fields`. Nothing is cut, however narrow the screen: the user asked for these values.
  package static func text(_ fields: [(name: String, value: Table.Cell)], on screen: Screen) -> String {
    table(fields).text(on: screen.unlimited, hasHeader: false)
  }

  /// The lines of `fields` whose values are sentences: they are broken between words.
  package static func wrappedText(_ fields: [(name: String, value: Table.Cell)], on screen: Screen) -> String {
    table(fields).wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: false)
  }

  private static func table(_ fields: [(name: String, value: Table.Cell)]) -> Table {
    Table([.init(""), .init("")], rows: fields.map { [Table.Cell($0.name, .dim), $0.value] })
  }

  /// A time for people: exact, and relative to `now`.
  package static func time(_ time: Duration, now: Duration) -> Table.Cell {
    Table.Cell("\(RFC3339Text.text(time)) (\(RelativeTimeText.text(time, now: now)))")
  }

  /// A time in the past for people: exact, and relative to `now`.
  package static func past(_ time: Duration, now: Duration) -> Table.Cell {
    Table.Cell("\(RFC3339Text.text(time)) (\(RelativeTimeText.past(time, now: now)))")
  }

  /// A number of bytes, rounded and exact.
  package static func bytes(_ count: Int) -> Table.Cell {
    guard count >= 1_024 else { return Table.Cell(ByteCountText.text(count)) }
    return Table.Cell("\(ByteCountText.text(count)) (\(NumberText.text(count)) bytes)")
  }
}
