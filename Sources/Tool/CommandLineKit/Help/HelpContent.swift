/// The content of the help and the manual page of a command, before either lays it out.
struct HelpContent {
  /// A title with its rows.
  typealias Section = (title: String, rows: [HelpLayout.Row])

  /// The command.
  let path: CommandPath
  private let set: ArgumentSet

  /// The content for the command at `path`.
  init(path: CommandPath) {
    self.path = path
    set = ArgumentSet(path.command)
  }

  static let abstractOfHelp = "Show the help of a command"

  /// The parts of the synopsis that follow the command's name.
  var usage: [String] {
    var parts = [String]()
    if path.isGroup { parts.append(path.defaultChild == nil ? "<command>" : "[<command>]") }
    parts += set.positionals.map { $0.isRequired ? $0.synopsis : "[\($0.synopsis)]" }
    parts += set.named.filter { $0.section.isEmpty }.map(usagePart)
    return parts
  }

  /// The groups of options that the synopsis names as a whole, in lower case.
  var usageGroups: [String] {
    let titles = Self.titles(of: set.named).filter { !$0.isEmpty }.map { $0.lowercased() }
    return path.isGroup && set.named.isEmpty ? titles + ["<options>"] : titles
  }

  private func usagePart(_ definition: ArgumentDefinition) -> String {
    let synopsis = definition.synopsis + (definition.isRepeating ? "..." : "")
    return definition.isRequired ? synopsis : "[\(synopsis)]"
  }

  /// The subcommands, including the built-in one of the root.
  var commands: [HelpLayout.Row] {
    let own = children.map(\.row)
    return path.isGroup && path.isRoot ? own + [HelpLayout.Row("help", Self.abstractOfHelp, [])] : own
  }

  /// The subcommands, each with its row.
  var children: [(path: CommandPath, row: HelpLayout.Row)] {
    let defaultName = path.defaultChild?.names.last
    return path.children.map { child in
      let name = child.names[child.names.count - 1]
      return (child, HelpLayout.Row(name, child.configuration.abstract, name == defaultName ? ["default"] : []))
    }
  }

  /// The positional arguments, then the options with one section per group; sections can be empty.
  var arguments: [Section] {
    let titles = Self.titles(of: set.named)
    let options = (titles.isEmpty ? [""] : titles).map { title in
      let own = set.named.filter { $0.section == title }.map(row)
      let rows = own + (title == (titles.last ?? "") ? builtIn : [])
      return (title.isEmpty ? "OPTIONS" : title.uppercased(), rows)
    }
    return [("ARGUMENTS", set.positionals.map(row))] + options
  }

  /// The built-in options.
  private var builtIn: [HelpLayout.Row] {
    let isShortFree = set.index(of: .short("h")) == nil
    let help = HelpLayout.Row(isShortFree ? "-h, --help" : "    --help", "Show this help", [])
    guard path.isRoot, !path.configuration.version.isEmpty else { return [help] }
    return [help, HelpLayout.Row("    --version", "Show the version", [])]
  }

  /// The titles of the groups, each once, in order.
  private static func titles(of definitions: [ArgumentDefinition]) -> [String] {
    definitions.reduce(into: []) { titles, definition in
      if !titles.contains(definition.section) { titles.append(definition.section) }
    }
  }

  /// The row of an option or argument: its purpose, allowed values and default.
  private func row(_ definition: ArgumentDefinition) -> HelpLayout.Row {
    var notes: [String] = []
    let description = definition.valueDescription
    if !description.allowedValues.isEmpty { notes.append(description.allowedValues.joined(separator: ", ")) }
    if let text = description.defaultValue { notes.append("default: \(text.isEmpty ? "''" : text)") }
    if definition.isRepeating { notes.append("may be repeated") }
    if definition.isRequired, definition.kind == .option { notes.append("required") }
    return HelpLayout.Row(label(definition), definition.help.abstract, notes)
  }

  /// All names with the placeholder, with the short names first in their own column.
  private func label(_ definition: ArgumentDefinition) -> String {
    guard definition.kind != .positional else { return definition.synopsis }
    let ordered = definition.names.filter(\.isShort) + definition.names.filter { !$0.isShort }
    let names = ordered.map(\.text).joined(separator: ", ")
    let indented = ordered.first?.isShort == true ? names : "    " + names
    return definition.kind == .option ? "\(indented) <\(definition.valueName)>" : indented
  }
}

extension HelpContent {
  /// The help in the lines of `layout`, ending with a line break.
  func text(_ layout: HelpLayout) -> String {
    let closing = "See '\(path.helpCommand) <command>' for the options of a command."
    let parts = [
      layout.wrapped(path.configuration.abstract),
      layout.usage(path.text, usage + usageGroups.map { "[\($0)]" }),
      layout.wrapped(path.configuration.discussion),
      layout.sections([("COMMANDS", commands)] + arguments),
      path.isGroup ? layout.wrapped(closing) : "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }
}

extension CommandPath {
  /// The help of the built-in command `help` of this root.
  func helpOfHelp(_ layout: HelpLayout) -> String {
    let abstract = layout.wrapped("\(HelpContent.abstractOfHelp), or list all commands")
    return "\(abstract)\n\n\(layout.usage("\(text) help", ["[<command>...]"]))\n"
  }
}
