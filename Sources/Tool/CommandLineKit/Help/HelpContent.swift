/// The content of the help, the manual page and the reference of a command, before each lays it out.
struct HelpContent {
  typealias Section = (title: String, rows: [HelpLayout.Row])

  let path: CommandPath
  /// The declarations of the command, or of the subcommand that it runs if none is named.
  private let set: ArgumentSet

  init(path: CommandPath) {
    self.path = path
    set = ArgumentSet((path.defaultChild ?? path).command)
  }

  /// The command lines that run the command, the most common first.
  var usage: [String] {
    if let usage = path.configuration.usage { return usage.split(separator: "\n").map(String.init) }
    var parts = [path.text]
    if path.isGroup { parts.append(path.defaultChild == nil ? "COMMAND" : "[COMMAND]") }
    parts += set.positionals.map { $0.isRequired ? $0.synopsis : "[\($0.synopsis)]" }
    parts += set.named.filter(\.isRequired).map(\.synopsis)
    if path.isGroup || set.named.contains(where: { !$0.isRequired }) { parts.append("[options]") }
    return [parts.joined(separator: " ")]
  }

  /// The groups of subcommands; groups can be empty.
  var commands: [(title: String, children: [CommandPath])] {
    let groups = path.configuration.groupedSubcommands
    return [("COMMANDS", path.configuration.ungroupedSubcommands.map(path.appending))]
      + groups.map { ($0.name.uppercased(), $0.subcommands.map(path.appending)) }
  }

  /// The row of the subcommand at `child`.
  func row(_ child: CommandPath) -> HelpLayout.Row {
    let name = child.names[child.names.count - 1]
    let isDefault = name == path.defaultChild?.names.last
    return HelpLayout.Row(name, child.configuration.abstract, isDefault ? ["default"] : [])
  }

  /// The positional arguments, then the options with one section per group, without those that have their own page;
  /// sections can be empty.
  var arguments: [Section] {
    var titles: [String] = []
    for definition in set.named where !titles.contains(definition.section) { titles.append(definition.section) }
    var options: [Section] = titles.filter { title in optionTopic?.title != title }.map { title in
      let rows = set.named.filter { $0.section == title }.map(HelpLayout.Row.init)
      return (title.isEmpty ? "OPTIONS" : title.uppercased(), rows)
    }
    if options.isEmpty { options = [("OPTIONS", [])] }
    options[options.count - 1].rows += builtIn
    return [("ARGUMENTS", set.positionals.map(HelpLayout.Row.init))] + options
  }

  /// The page with options that the command has, or the commands under it.
  var optionTopic: HelpTopic? {
    let isOnlyGroup = path.isGroup && !path.isRoot && set.named.isEmpty
    return path.topics.first { topic in
      topic.options != nil && (isOnlyGroup || set.named.contains { $0.section == topic.title })
    }
  }

  /// The built-in options.
  private var builtIn: [HelpLayout.Row] {
    if optionTopic != nil { return [] }
    let isShortFree = set.index(of: .short("h")) == nil
    let help = HelpLayout.Row(isShortFree ? "-h, --help" : "    --help", "Show this help")
    guard path.isRoot, !path.configuration.version.isEmpty else { return [help] }
    return [help, HelpLayout.Row("    --version", "Show the version")]
  }
}

extension HelpLayout.Row {
  /// The row of an option or argument: its purpose, allowed values and default.
  init(_ definition: ArgumentDefinition) {
    var notes: [String] = []
    let description = definition.valueDescription
    if !description.allowedValues.isEmpty { notes.append(description.allowedValues.joined(separator: ", ")) }
    if let text = description.defaultValue { notes.append("default: \(text.isEmpty ? "''" : text)") }
    if definition.isRepeating, definition.kind == .option { notes.append("repeatable") }
    if definition.isRequired, definition.kind == .option { notes.append("required") }
    self.init(Self.label(definition), definition.help.abstract, notes)
  }

  /// All names with the placeholder, with the short names first in their own column.
  private static func label(_ definition: ArgumentDefinition) -> String {
    guard definition.kind != .positional else { return definition.synopsis }
    let ordered = definition.names.filter(\.isShort) + definition.names.filter { !$0.isShort }
    let names = ordered.map(\.text).joined(separator: ", ")
    let indented = ordered.first?.isShort == true ? names : "    " + names
    return definition.kind == .option ? "\(indented) \(definition.placeholder)" : indented
  }
}

extension HelpContent {
  /// The help in the lines of `layout`, ending with a line break.
  func text(_ layout: HelpLayout) -> String {
    let groups = commands.map { (title: $0.title, rows: $0.children.map(row)) }
    let topics = path.isRoot && path.isGroup ? [path.topicOfHelp.section] : []
    let configuration = path.configuration
    let parts = [
      layout.wrapped(configuration.abstract),
      layout.usage(usage),
      layout.wrapped(configuration.discussion),
      configuration.examples.isEmpty
        ? "" : (["EXAMPLES"] + configuration.examples.map { "  \($0)" }).joined(separator: "\n"),
      layout.sections(groups + arguments + topics),
      layout.wrapped(references.joined(separator: "\n")),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// The sentences about other pages of help.
  private var references: [String] {
    let options = optionTopic.map { "\($0.title): see '\(path.names[0]) help \($0.name)'." }
    let commands = path.isGroup && !path.isRoot ? "Options of a command: see '\(path.helpCommand) COMMAND'." : nil
    return [commands, options].compactMap(\.self)
  }
}
