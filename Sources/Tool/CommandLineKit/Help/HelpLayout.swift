/// Breaks help into lines of a given width.
struct HelpLayout {
  /// A name and its explanation.
  struct Row {
    /// The name, in the left column.
    let label: String
    /// The explanation, in the right column.
    let text: String
    /// Notes to add in square brackets.
    let notes: [String]

    /// A row with the given label, explanation and notes.
    init(_ label: String, _ text: String, _ notes: [String]) {
      self.label = label
      self.text = text
      self.notes = notes
    }

    /// The words of the right column.
    var words: [Substring] {
      let all = notes.isEmpty ? text : "\(text) [\(notes.joined(separator: "; "))]"
      return all.split(separator: " ")
    }
  }

  /// The width of a line, in characters.
  let columns: Int

  /// Headings with their rows in two columns; sections without rows are left out. The right column begins at the same
  /// position everywhere.
  func sections(_ sections: [(title: String, rows: [Row])]) -> String {
    let limit = columns * 2 / 5
    let width = sections.flatMap(\.rows).map(\.label.count).filter { $0 <= limit }.max() ?? limit
    let texts = sections.filter { !$0.rows.isEmpty }.map { section in
      ([section.title] + section.rows.map { row($0, width: width) }).joined(separator: "\n")
    }
    return texts.joined(separator: "\n\n")
  }

  /// The lines of a text: paragraphs are wrapped. Lines that begin with a space are commands for a shell.
  func wrapped(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      line.hasPrefix(" ") ? command(line) : fill(line.split(separator: " "), indent: 0)
    }
    return lines.joined(separator: "\n")
  }

  /// A command. If it is too long, it is continued on further lines with backslashes, as its reader would write it: a shell
  /// takes what was copied, however the terminal breaks lines. An option stays together with its value.
  private func command(_ line: Substring) -> [String] {
    guard line.count > columns else { return [String(line)] }
    let (deeper, backslash) = (4, " \\")
    let indent = line.prefix { $0 == " " }.count + deeper
    var lines = HelpLayout(columns: columns - backslash.count).fill(Self.shellWords(line), indent: indent)
    lines[0].removeFirst(deeper)
    for index in lines.indices.dropLast() { lines[index] += backslash }
    return lines
  }

  /// The words of a command, quoted spaces included. An option, a pipe or a redirection has the next word with it.
  private static func shellWords(_ line: Substring) -> [Substring] {
    var quote: Character?
    var words: [Substring] = []
    for word in line.split(whereSeparator: { character in
      if character == quote { quote = nil } else if quote == nil, "'\"".contains(character) { quote = character }
      return character == " " && quote == nil
    }) {
      if let last = words.last, isBeginning(last), !isBeginning(word) {
        words[words.count - 1] = "\(last) \(word)"
      } else {
        words.append(word)
      }
    }
    return words
  }

  private static func isBeginning(_ word: Substring) -> Bool {
    word.first.map { "-|<>".contains($0) } == true && !word.contains { $0 == " " }
  }

  /// `parts` after a beginning; further lines are indented to the width of the beginning.
  func hanging(after beginning: String, _ parts: [String]) -> String {
    guard !parts.isEmpty else { return beginning }
    let indent = min(beginning.count + 1, columns / 2)
    let lines = fill(parts.map { $0[...] }, indent: indent)
    guard indent == beginning.count + 1 else { return ([beginning] + lines).joined(separator: "\n") }
    return beginning + lines.joined(separator: "\n").dropFirst(beginning.count)
  }

  /// One row; a label too long for its column gets its own line.
  private func row(_ row: Row, width: Int) -> String {
    let indent = width + 4
    let lines = fill(row.words, indent: indent)
    guard let first = lines.first else { return "  " + row.label }
    guard row.label.count <= width else { return (["  " + row.label] + lines).joined(separator: "\n") }
    let label = "  " + row.label
    let padding = String(repeating: " ", count: indent - label.count)
    return ([label + padding + first.dropFirst(indent)] + lines.dropFirst()).joined(separator: "\n")
  }

  /// `words` in as few lines as possible, each indented by `indent` spaces.
  private func fill(_ words: [Substring], indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in words {
      if line.isEmpty {
        line = margin + word
      } else if line.count + 1 + word.count <= columns {
        line += " " + word
      } else {
        lines.append(line)
        line = margin + word
      }
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
