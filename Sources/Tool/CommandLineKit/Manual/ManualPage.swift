/// A page of the manual, written in the macros of man(7).
public struct ManualPage: Sendable {
  /// The name, such as `tool-fetch`.
  public let name: String
  /// The section of the manual: 1 for commands, 5 for files.
  public let section: Int
  private var lines: [String]

  /// The name of its file, such as `tool-fetch.1`.
  public var fileName: String { "\(name).\(section)" }

  /// The text of the file, ending with a line break.
  public var text: String { lines.joined(separator: "\n") + "\n" }

  /// A page with its title and the section NAME.
  ///
  /// - Parameters:
  ///   - abstract: what the command does or the file holds, in one line.
  ///   - version: the program and its version, for the foot of the page.
  public init(_ name: String, section: Int, abstract: String, version: String) {
    (self.name, self.section) = (name, section)
    let title = [name.uppercased(), String(section), "", version, section == 1 ? "User Commands" : "File Formats"]
    // Text is neither stretched nor hyphenated: both spoil command lines.
    lines = [".TH " + title.map(Roff.quoted).joined(separator: " "), ".ad l", ".nh"]
    addHeading("NAME")
    lines.append("\(Roff.escaped(name)) \\- \(Roff.escaped(abstract.beginningInLowerCase))")
  }

  /// Begins a section of the page.
  public mutating func addHeading(_ title: String) { lines.append(".SH " + Roff.quoted(title)) }

  /// Adds paragraphs. Lines that begin with a space stay unchanged, and words between backticks are bold.
  public mutating func addText(_ text: String) {
    var isExample = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix(" ") != isExample {
        lines += isExample ? [".EE", ".RE"] : [".RS 4", ".EX"]
        isExample.toggle()
      }
      if isExample {
        // The first two spaces only mark the line.
        lines.append(Roff.escaped(String(line.dropFirst(line.hasPrefix("  ") ? 2 : 1))))
      } else {
        lines += [".PP", Roff.sentence(String(line))]
      }
    }
    if isExample { lines += [".EE", ".RE"] }
  }

  /// Adds a term, in bold except for placeholders in capitals, and its explanation.
  public mutating func addItem(_ term: String, _ explanation: String) {
    lines += [".TP", Roff.synopsis(term), explanation.isEmpty ? "\\&" : Roff.sentence(explanation)]
  }

  /// Adds a reference to another page, with an explanation if there is one.
  public mutating func addReference(_ name: String, section: Int, _ explanation: String? = nil) {
    let reference = "\(Roff.bold(name))(\(section))"
    lines += explanation.map { [".TP", reference, Roff.sentence($0)] } ?? [".PP", reference]
  }

  /// Adds a synopsis, such as `tool ls [options]`. Its further lines are indented to the end of the first word.
  mutating func addSynopsis(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    // After stops, `\&` says that no sentence ends there.
    let parts = words.dropFirst().map { word in
      if word == "[options]" { return "[\\fIoptions\\fR]" }
      return Roff.synopsis(word) + (word.utf8.contains(UInt8(ascii: ".")) ? "\\&" : "")
    }
    // The macro that ends a synopsis allows hyphens again.
    lines += [".SY " + Roff.quoted(words[0])] + parts + [".YS", ".nh"]
  }

  /// Adds a section with an item for each row.
  fileprivate mutating func add(_ section: HelpContent.Section) {
    guard !section.rows.isEmpty else { return }
    addHeading(section.title)
    for row in section.rows { addItem(String(row.label.drop { $0 == " " }), row.words.joined(separator: " ")) }
  }
}

extension ParsableCommand {
  /// The manual of this command as the root, and of all commands under it: a page for each, this one's first.
  ///
  /// - Parameters:
  ///   - version: the program and its version, for the foot of each page.
  ///   - complete: adds to the first page what the declarations do not say.
  public static func manualPages(version: String, _ complete: (inout ManualPage) -> Void = { _ in }) -> [ManualPage] {
    var pages: [ManualPage] = []
    var waiting = [CommandPath(root: self)]
    while let path = waiting.popLast() {
      var page = ManualPage(path, version: version)
      if path.isRoot { complete(&page) } else { page.addReferences(from: path) }
      pages.append(page)
      waiting += path.children.reversed()
    }
    return pages
  }
}

extension ManualPage {
  fileprivate init(_ path: CommandPath, version: String) {
    let (content, configuration) = (HelpContent(path: path), path.configuration)
    self.init(path.pageName, section: 1, abstract: configuration.abstract, version: version)
    addHeading("SYNOPSIS")
    for line in content.usage { addSynopsis(line) }
    if !configuration.discussion.isEmpty {
      addHeading("DESCRIPTION")
      addText(configuration.discussion)
    }
    if !configuration.examples.isEmpty {
      addHeading("EXAMPLES")
      addText(configuration.examples.map { "  \($0)\n" }.joined())
    }
    for group in content.commands where !group.children.isEmpty {
      addHeading(group.title)
      for child in group.children {
        addReference(child.pageName, section: 1, content.row(child).words.joined(separator: " "))
      }
    }
    for section in content.arguments { add(section) }
    if path.isRoot {
      for topic in path.topics { add(topic.section) }
    } else if let topic = content.optionTopic {
      addHeading(topic.title.uppercased())
      addText("See `\(path.names[0])`(1).")
    }
  }

  /// Adds references to the pages of the commands above the one at `path`.
  fileprivate mutating func addReferences(from path: CommandPath) {
    addHeading("SEE ALSO")
    for count in 1..<path.names.count {
      addReference(path.names.prefix(count).joined(separator: "-"), section: 1)
    }
  }
}

extension CommandPath {
  /// The name of its manual page.
  fileprivate var pageName: String { names.joined(separator: "-") }
}

extension String {
  /// The text with a small first letter, unless its first word is written in capitals.
  fileprivate var beginningInLowerCase: String {
    guard let first, dropFirst().first?.isLowercase == true || dropFirst().first == " " else { return self }
    return first.lowercased() + dropFirst()
  }
}
