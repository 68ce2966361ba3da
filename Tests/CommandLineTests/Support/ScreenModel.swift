/// The screen of a terminal after the given output, as far as the tool uses a terminal's functions.
struct ScreenModel {
  private let columns: Int
  private let rows: Int
  private var lines: [[Character]]
  private var (row, column) = (0, 0)
  /// The lines that have been scrolled away.
  private(set) var history: [String] = []
  /// Sequences that the model does not know, and cursor movements beyond the top.
  private(set) var problems: [String] = []

  /// An empty screen.
  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    lines = Array(repeating: [], count: rows)
  }

  /// The lines in sight, without the empty ones at the end.
  var visible: [String] {
    let texts = lines.map(Self.text)
    return Array(texts.prefix(texts.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0))
  }

  /// All lines, scrolled away or not.
  var all: [String] { history + visible }

  mutating func write(_ text: String) {
    var rest = Substring(text)
    while let character = rest.popFirst() {
      switch character {
      case "\r\n": (row, column) = (row, 0); lineFeed()
      case "\n": lineFeed()
      case "\r": column = 0
      case "\u{1B}": obey(&rest)
      default: put(character)
      }
    }
  }

  private mutating func obey(_ rest: inout Substring) {
    let sequence = rest.prefix { !$0.isLetter }
    rest = rest[sequence.endIndex...]
    guard sequence.first == "[", let command = rest.popFirst() else { return problems.append("ESC \(sequence)") }
    let parameter = String(sequence.dropFirst())
    switch (command, parameter) {
    case ("m", _): break
    case ("A", _): moveUp(Int(parameter) ?? 1)
    case ("J", ""), ("J", "0"): erase(); for row in (row + 1)..<max(rows, row + 1) { lines[row] = [] }
    case ("K", ""), ("K", "0"): erase()
    default: problems.append("ESC \(sequence)\(command)")
    }
  }

  private mutating func moveUp(_ count: Int) {
    if count > row { problems.append("\(count) lines up from line \(row)") }
    row = max(row - count, 0)
  }

  private mutating func erase() { lines[row] = Array(lines[row].prefix(min(column, columns - 1))) }

  private mutating func lineFeed() {
    row += 1
    guard row == rows else { return }
    history.append(Self.text(lines.removeFirst()))
    lines.append([])
    row -= 1
  }

  /// A character at the end of the line leaves the cursor there: only the next one moves it to another line.
  private mutating func put(_ character: Character) {
    let width = character.unicodeScalars.contains { $0.value >= 0x2E80 } ? 2 : 1
    if column + width > columns { column = 0; lineFeed() }
    while lines[row].count < column { lines[row].append(" ") }
    let cells = [character] + Array(repeating: "\0", count: width - 1)
    lines[row].replaceSubrange(column..<min(column + width, lines[row].count), with: cells)
    column += width
  }

  private static func text(_ line: [Character]) -> String {
    var text = String(line.filter { $0 != "\0" })
    while text.last == " " { text.removeLast() }
    return text
  }
}
