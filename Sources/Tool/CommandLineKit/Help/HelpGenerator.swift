/// Lays out the help of a command.
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
    let content = HelpContent(path: path)
    let parts = [
      layout.wrapped(path.configuration.abstract),
      usage(path.text, content.usage + content.usageGroups.map { "[\($0)]" }),
      layout.wrapped(path.configuration.discussion),
      layout.sections([("COMMANDS", content.commands)] + content.arguments),
      path.isGroup ? closing : "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// The help of the built-in command `help`.
  var textOfHelp: String {
    let parts = [
      layout.wrapped("\(HelpContent.abstractOfHelp), or list all commands"),
      usage("\(path.text) help", ["[<command>...]"]),
    ]
    return parts.joined(separator: "\n\n") + "\n"
  }

  /// The synopsis of the command line.
  private func usage(_ command: String, _ parts: [String]) -> String {
    "USAGE\n" + layout.hanging(after: "  " + command, parts)
  }

  private var closing: String {
    layout.wrapped("See '\(path.helpCommand) <command>' for the options of a command.")
  }
}
