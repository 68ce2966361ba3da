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
