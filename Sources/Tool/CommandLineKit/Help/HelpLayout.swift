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
    init(_ label: String, _ text: String, _ notes: [String] = []) {
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
  /// position everywhere; if it would be too narrow to read, below the label.
  func sections(_ sections: [(title: String, rows: [Row])]) -> String {
    let limit = columns < 60 ? 0 : columns / 3
    let width = sections.flatMap(\.rows).map(\.label.count).filter { $0 <= limit }.max() ?? 4
    let texts = sections.filter { !$0.rows.isEmpty }.map { section in
      ([section.title] + section.rows.map { row($0, width: width) }).joined(separator: "\n")
    }
    return texts.joined(separator: "\n\n")
  }

  /// The lines of a text: paragraphs are wrapped. Lines that begin with a space are commands for a shell, and stay.
  func wrapped(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      line.isEmpty || line.hasPrefix(" ") ? [String(line)] : fill(line.split(separator: " "), indent: 0)
    }
    return lines.joined(separator: "\n")
  }

  /// The command lines that run a command, further lines of each indented.
  func usage(_ lines: [String]) -> String {
    let title = "Usage: "
    return lines.enumerated().map { index, line in
      let words = line.split(separator: " ")
      let rest = fill(words, indent: title.count + 2)
      let start = index == 0 ? title : String(repeating: " ", count: title.count)
      return (start + rest.joined(separator: "\n").dropFirst(title.count + 2))
    }.joined(separator: "\n")
  }

  /// One row; a label too long for its column gets its own line.
  private func row(_ row: Row, width: Int) -> String {
    let indent = width + 4
    let lines = fill(row.words, indent: indent)
    guard let first = lines.first else { return "  " + row.label }
    guard row.label.count <= width else {
      let label = row.label.count + 2 <= columns ? ["  " + row.label] : fill(row.label.split(separator: " "), indent: 2)
      return (label + lines).joined(separator: "\n")
    }
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
