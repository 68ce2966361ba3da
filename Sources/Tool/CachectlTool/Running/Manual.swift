internal import CacheBase
internal import CommandLineKit

/// The manual: a page for each command, and one for the configuration file.
enum Manual {
  static var pages: [ManualPage] { CachectlCommand.manualPages(version: version, complete) + [configuration] }

  private static var version: String { CachectlCommand.configuration.version }
  private static let file = (name: "cachectl.json", section: 5)

  /// Adds to the page of the program what its declarations do not say.
  private static func complete(_ page: inout ManualPage) {
    page.addHeading("ENVIRONMENT")
    for (name, meaning) in variables { page.addItem(name, meaning) }
    addFiles(to: &page)
    page.addHeading("SEE ALSO")
    page.addReference(file.name, section: file.section)
  }

  /// The environment variables that are not named after a setting.
  static let variables = [
    ("CACHECTL_CONFIG", "The configuration file, like `--config`."),
    ("CACHECTL_BACKEND", "The storage engine, like `--backend`."),
    ("CACHECTL_HOME", "The directory for stores, like `--home`."),
    ("CACHECTL_PLUGIN_PATH", "The directories with the libraries of engines, separated by colons."),
    ("NO_COLOR", "If it is not empty, no colors are used, like `--no-color`."),
  ]

  /// Adds the files of the program.
  private static func addFiles(to page: inout ManualPage) {
    page.addHeading("FILES")
    page.addItem("~/.config/cachectl/config.json", "The user's configuration, below XDG_CONFIG_HOME if that is set.")
    page.addItem("~/.cache/cachectl", "The stores, below XDG_CACHE_HOME if that is set.")
  }

  /// The page of the configuration file.
  private static var configuration: ManualPage {
    var page = ManualPage(
      file.name, section: file.section, abstract: "the configuration file of cachectl", version: version)
    page.addHeading("DESCRIPTION")
    page.addText(
      """
      The file is one JSON object. An option of the command line overrides an environment variable, which overrides the \
      file, which overrides the default. `cachectl config show --origin` shows the source of each value, and `cachectl \
      config validate` finds mistakes.
      A key is written here with the names of the objects around it, joined by full stops, as `--set` takes it. Relative \
      paths start from the directory for stores. Durations are written like 90s, 5m, 1h30m and 7d, sizes like 512KiB, \
      64MiB and 1GB.
      """)
    page.addHeading("KEYS")
    let loader = ConfigurationLoader.ofProcess
    for key in loader.declared.settings { page.addItem(key.path, explanation(key, loader.names)) }
    page.addHeading("EXAMPLE")
    page.addText("All keys with their defaults:")
    page.addText(loader.example.split(separator: "\n").map { "  \($0)\n" }.joined())
    addFiles(to: &page)
    page.addHeading("SEE ALSO")
    page.addReference(CachectlCommand.configuration.commandName ?? "cachectl", section: 1)
    return page
  }

  private static func explanation(_ key: Setting, _ names: ConfigurationNames) -> String {
    let parts: [String?] = [
      key.sentence, "Takes \(key.kind.allowed)",
      key.json.map { "Default: `\(JSONText.text($0))`" }, key.variable.map { "Variable: `\(names.prefix)\($0)`" },
    ]
    return parts.compactMap(\.self).map { "\($0)." }.joined(separator: " ")
  }
}

extension Setting {
  /// The purpose of the key, beginning with a capital.
  var sentence: String { help.prefix(1).uppercased() + help.dropFirst() }
}
