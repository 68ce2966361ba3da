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

  /// The lines of a text: paragraphs are wrapped. Lines that begin with a space are commands for a shell, and stay.
  func wrapped(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      line.hasPrefix(" ") ? [String(line)] : fill(line.split(separator: " "), indent: 0)
    }
    return lines.joined(separator: "\n")
  }

  /// The synopsis of a command line: `command` and the parts that follow it.
  func usage(_ command: String, _ parts: [String]) -> String { "USAGE\n" + hanging(after: "  " + command, parts) }

  /// `parts` after a beginning; further lines are indented to the width of the beginning.
  private func hanging(after beginning: String, _ parts: [String]) -> String {
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
