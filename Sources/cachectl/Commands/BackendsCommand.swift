internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

/// `backends`.
struct BackendsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backends", abstract: "Show the storage engines, or test one",
    subcommands: [ListBackends.self, ShowBackend.self, TestBackend.self], defaultSubcommand: ListBackends.self)

  /// - Throws: `ValidationError` where there is no engine called `name`.
  static func check(_ name: String) throws(ValidationError) {
    let names = BackendsPresenter().names
    if names.contains(name) { return }
    let nearest = Suggestion.nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    throw ValidationError("there is no backend '\(name)': use one of \(names.joined(separator: ", "))\(nearest)")
  }

  /// `backends list`.
  struct ListBackends: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the storage engines")

    @OptionGroup(title: "Global options")
    var global: GlobalOptions

    func run() throws {
      let selected = try ConfigurationLoader.ofProcess.load(global.configurationFlags).backend
      try global.show(BackendsPresenter().list(selected: selected))
    }
  }

  /// `backends show`.
  struct ShowBackend: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show what a storage engine can do and its options")

    @Argument(help: "The name of the engine", completion: .list(BackendsPresenter().names))
    var name: String

    @OptionGroup(title: "Global options")
    var global: GlobalOptions

    func validate() throws(ValidationError) { try BackendsCommand.check(name) }

    func run() throws {
      try global.show(try BackendsPresenter().backend(name))
    }
  }

  /// `backends test`.
  struct TestBackend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test", abstract: "Run the conformance suite over a storage engine",
      discussion: """
        It works on scratch stores below the folder for temporary files, and never touches a real one. The status is \
        1 where a check fails.
        """)

    @Argument(help: "The name of the engine", completion: .list(BackendsPresenter().names))
    var name: String

    @Option(help: "The seed of the random checks")
    var seed: UInt64 = 1

    @OptionGroup(title: "Global options")
    var global: GlobalOptions

    func validate() throws(ValidationError) { try BackendsCommand.check(name) }

    func run() async throws {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      let progress = ProgressDisplay("Testing \(name)", isVisible: global.showsProgress)
      let (view, hasFailures) = try await BackendsPresenter().test(
        name, scratchFolder: scratch.path, seed: seed, progress: { progress.update(done: $0, total: $1) })
      progress.finish()
      if Task.isCancelled { throw CacheError.cancelled }
      try global.show(view)
      if hasFailures { throw ExitCode.failure }
    }
  }
}
