/// Sets help in lines of a given width.
struct HelpLayout {
  /// A name and what it means.
  struct Row {
    /// The name, in the left column.
    let label: String
    /// What it means, in the right column.
    let text: String
    /// More of it, in square brackets.
    let notes: [String]

    /// A row of the given texts.
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

  /// Headings, each with rows in two columns under it; one without rows is left out. The right column begins at the
  /// same place everywhere.
  func sections(_ sections: [(title: String, rows: [Row])]) -> String {
    let limit = columns * 2 / 5
    let width = sections.flatMap(\.rows).map(\.label.count).filter { $0 <= limit }.max() ?? limit
    let texts = sections.filter { !$0.rows.isEmpty }.map { section in
      ([section.title] + section.rows.map { row($0, width: width) }).joined(separator: "\n")
    }
    return texts.joined(separator: "\n\n")
  }

  /// Text in lines: paragraphs are wrapped, lines that begin with a space are kept.
  func wrapped(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix(" ") ? String(line) : fill(line.split(separator: " "), indent: 0).joined(separator: "\n")
    }
    return lines.joined(separator: "\n")
  }

  /// Parts after a beginning; where they need more lines, these are indented as far as the beginning reaches.
  func hanging(after beginning: String, _ parts: [String]) -> String {
    guard !parts.isEmpty else { return beginning }
    let indent = min(beginning.count + 1, columns / 2)
    let lines = fill(parts.map { $0[...] }, indent: indent)
    guard indent == beginning.count + 1 else { return ([beginning] + lines).joined(separator: "\n") }
    return beginning + lines.joined(separator: "\n").dropFirst(beginning.count)
  }

  /// One row; a label too long for its column has the first line to itself.
  private func row(_ row: Row, width: Int) -> String {
    let indent = width + 4
    let lines = fill(row.words, indent: indent)
    guard let first = lines.first else { return "  " + row.label }
    guard row.label.count <= width else { return (["  " + row.label] + lines).joined(separator: "\n") }
    let label = "  " + row.label
    let padding = String(repeating: " ", count: indent - label.count)
    return ([label + padding + first.dropFirst(indent)] + lines.dropFirst()).joined(separator: "\n")
  }

  /// The words in as few lines as possible, each beginning with `indent` spaces.
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
