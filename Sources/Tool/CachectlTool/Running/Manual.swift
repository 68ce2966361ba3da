internal import CacheBase
internal import CommandLineKit

/// The manual: a page for each command, and one for the configuration file.
enum Manual {
  /// Prints the page in the file called `fileName`; without a name, the names of the files of all pages.
  static func write(_ fileName: String?) throws {
    guard let fileName else { return try Console.output.write(pages.map { "\($0.fileName)\n" }.joined()) }
    guard let page = pages.first(where: { $0.fileName == fileName }) else {
      throw ValidationError("the manual has no page \(fileName)")
    }
    try Console.output.write(page.text)
  }

  /// All pages.
  static var pages: [ManualPage] { CachectlCommand.manualPages(version: version, complete) + [configuration] }

  private static var version: String { CachectlCommand.configuration.version }
  private static let file = (name: "cachectl.json", section: 5)

  /// Adds to the page of the program what its declarations do not say.
  private static func complete(_ page: inout ManualPage) {
    page.addHeading("ENVIRONMENT")
    for (name, meaning) in variables { page.addItem(name, meaning) }
    addFiles(to: &page)
    page.addHeading("EXIT STATUS")
    for (status, meaning) in statuses { page.addItem(status, meaning) }
    page.addHeading("SEE ALSO")
    page.addReference(file.name, section: file.section)
  }

  private static let variables = [
    ("CACHECTL_CONFIG", "The configuration file, as `--config` names it."),
    ("CACHECTL_BACKEND", "The storage engine, as `--backend` names it."),
    ("CACHECTL_HOME", "The folder for stores, as `--home` names it."),
    ("CACHECTL_PLUGIN_PATH", "The folders in which the libraries of engines are looked for, separated by colons."),
    ("NO_COLOR", "Not empty: the output has no colour, as with `--no-color`."),
  ]

  private static let statuses = [
    ("0", "Done."),
    ("1", "A check of `backends test` failed, or `bench` found a wrong answer or something worse than before."),
    ("64", "The command line is wrong."),
    ("65", "Data in the store or in an imported file is damaged, or of an unknown format."),
    ("66", "Nothing found, or no entry meets the conditions of `rm`."),
    (
      "69",
      "The origin or a server of the store cannot be reached, and the cache has nothing to serve, or only a stale copy "
        + "with `--require-fresh`."
    ),
    ("70", "A defect of the program."),
    ("73", "A store cannot be created."),
    ("74", "Input or output failed; what was stored before is intact."),
    ("75", "Another process held the store for longer than the time-out, or its server was starting all that time."),
    ("77", "Access is refused, or others may change the library of an engine."),
    ("78", "The configuration is wrong, or the library of an engine cannot be used."),
    ("129, 130, 143", "Hung up, interrupted, terminated; stores were closed in order."),
  ]

  /// Adds the files that are looked for.
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
      The file is one JSON object. An option of the command line goes before an environment variable, which goes before \
      the file, which goes before the default. `cachectl config show --origin` says where each value comes from, and \
      `cachectl config validate` finds mistakes.
      A key is written here with the names of the objects around it, joined by full stops, as `--set` takes it. Relative \
      paths start from the folder for stores. Durations are written like 90s, 5m, 1h30m and 7d, sizes like 512KiB, 64MiB \
      and 1GB.
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
      key.help.prefix(1).uppercased() + key.help.dropFirst(), "Takes \(key.kind.allowed)",
      key.json.map { "Default: `\(JSONText.text($0))`" }, key.variable.map { "Variable: `\(names.prefix)\($0)`" },
    ]
    return parts.compactMap(\.self).map { "\($0)." }.joined(separator: " ")
  }
}
