/// Writes the help of a command from its declarations.
struct HelpGenerator {
  private let path: CommandPath
  private let layout: HelpLayout

  /// The help of the command at `path`, in lines of `columns` characters.
  init(path: CommandPath, columns: Int) {
    self.path = path
    layout = HelpLayout(columns: max(40, columns))
  }

  /// The help, ending with a line break.
  var text: String {
    let set = ArgumentSet(path.command)
    let configuration = path.configuration
    let parts = [
      layout.wrapped(configuration.abstract),
      usage(set),
      layout.wrapped(configuration.discussion),
      layout.sections(
        [("COMMANDS", commandRows), ("ARGUMENTS", set.positionals.map(row))] + optionSections(set)),
      path.isGroup ? closing : "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// The help of the built-in command `help`.
  var textOfHelp: String {
    let parts = [
      layout.wrapped("\(Self.abstractOfHelp), or list all commands"),
      "USAGE\n" + layout.hanging(after: "  \(path.text) help", ["[<command>...]"]),
    ]
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static let abstractOfHelp = "Show the help of a command"

  /// The synopsis of the command line.
  private func usage(_ set: ArgumentSet) -> String {
    var parts = [String]()
    if path.isGroup { parts.append(path.defaultChild == nil ? "<command>" : "[<command>]") }
    parts += set.positionals.map { $0.isRequired ? $0.synopsis : "[\($0.synopsis)]" }
    parts += set.named.filter { $0.section.isEmpty }.map(usagePart)
    parts += Self.sections(of: set.named).filter { !$0.isEmpty }.map { "[\($0.lowercased())]" }
    if path.isGroup, set.named.isEmpty { parts.append("[<options>]") }
    return "USAGE\n" + layout.hanging(after: "  " + path.text, parts)
  }

  private func usagePart(_ definition: ArgumentDefinition) -> String {
    let synopsis = definition.synopsis + (definition.isRepeating ? "..." : "")
    return definition.isRequired ? synopsis : "[\(synopsis)]"
  }

  /// The subcommands, including the built-in one.
  private var commandRows: [HelpLayout.Row] {
    guard path.isGroup else { return [] }
    let defaultName = path.defaultChild?.names.last
    let rows = path.children.map { child in
      let name = child.names[child.names.count - 1]
      return HelpLayout.Row(name, child.configuration.abstract, name == defaultName ? ["default"] : [])
    }
    return rows + (path.isRoot ? [HelpLayout.Row("help", Self.abstractOfHelp, [])] : [])
  }

  /// The options, with one section per group.
  private func optionSections(_ set: ArgumentSet) -> [(title: String, rows: [HelpLayout.Row])] {
    let titles = Self.sections(of: set.named)
    let builtIn = self.builtIn(set)
    return (titles.isEmpty ? [""] : titles).map { title in
      let own = set.named.filter { $0.section == title }.map(row)
      let rows = own + (title == (titles.last ?? "") ? builtIn : [])
      return (title.isEmpty ? "OPTIONS" : title.uppercased(), rows)
    }
  }

  /// The built-in options.
  private func builtIn(_ set: ArgumentSet) -> [HelpLayout.Row] {
    let isShortFree = set.index(of: .short("h")) == nil
    let help = HelpLayout.Row(isShortFree ? "-h, --help" : "    --help", "Show this help", [])
    guard path.isRoot, !path.configuration.version.isEmpty else { return [help] }
    return [help, HelpLayout.Row("    --version", "Show the version", [])]
  }

  /// The titles of the groups, each once, in order.
  private static func sections(of definitions: [ArgumentDefinition]) -> [String] {
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

  /// All names with the placeholder, with the short names first in a column of their own.
  private func label(_ definition: ArgumentDefinition) -> String {
    guard definition.kind != .positional else { return definition.synopsis }
    let ordered = definition.names.filter(\.isShort) + definition.names.filter { !$0.isShort }
    let names = ordered.map(\.text).joined(separator: ", ")
    let indented = ordered.first?.isShort == true ? names : "    " + names
    return definition.kind == .option ? "\(indented) <\(definition.valueName)>" : indented
  }

  private var closing: String {
    layout.wrapped("See '\(path.helpCommand) <command>' for the options of a command.")
  }
}
