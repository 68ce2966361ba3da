internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `config validate`.
struct ValidateConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check a configuration file, and list everything that is wrong with it",
    discussion: """
      Without FILE, the one is checked that would be used. The status is 78 where something is wrong. \
      Of a file that asks for trust (see `cachectl help config trust`), no library is loaded to check its options.
      """)

  @Argument(help: "The file to check", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    var flags = global.configurationFlags
    if let file { (flags.file, flags.vouchesForFile) = (file, false) }
    let problems = ConfigurationLoader.ofProcess.problems(flags)
    let views = problems.map { ErrorView(code: $0.code.rawValue, message: $0.message, hint: $0.hint) }
    try global.show(ProblemsView(views))
    let statuses = problems.map { ExitCode($0) }
    if let status = [.badConfiguration, .refused].first(where: statuses.contains) ?? statuses.first { throw status }
  }
}
