internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `rm`.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove entries",
    discussion: """
      Conditions narrow each other down. --all removes everything: on a terminal after a question, elsewhere only \
      with --yes.

      Examples:
        cachectl rm --state expired
        cachectl rm --namespace movies --older-than 7d --dry-run
        cachectl rm --all --yes
      """)

  @Argument(help: "The keys, as ls shows them")
  var keys: [String] = []

  @OptionGroup
  var entries: EntryFlags

  @Option(help: ArgumentHelp("Only entries stored at least DURATION ago", valueName: "duration"))
  var olderThan: DurationText?

  @Flag(help: "Every entry")
  var all = false

  @Flag(help: "Only say what would be removed")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  private var hasConditions: Bool { entries.conditions(minimumAge: olderThan) != EntryConditions() }

  func validate() throws(ValidationError) {
    switch [!keys.isEmpty, hasConditions, all].count(where: { $0 }) {
    case 0: throw ValidationError("nothing is named: give keys, conditions or --all")
    case 1: break
    default: throw ValidationError("keys, conditions and --all exclude each other")
    }
  }

  func run() async throws {
    let session = try Session(global)
    if all, !dryRun, !yes, try !Question.confirm("Remove every entry of \(session.configuration.backend)?") {
      throw ExitCode.validationFailure
    }
    let view = try await session.withStore { store throws(CacheError) in
      let presenter = session.container.makeStorePresenter(store)
      if !keys.isEmpty { return try await presenter.remove(keys: keys, dryRun: dryRun) }
      return try await presenter.remove(entries.conditions(minimumAge: olderThan), dryRun: dryRun)
    }
    try global.show(view)
    if let key = view.missingKeys.first {
      throw CacheError(.notFound, "there is no entry \(key)", hint: "see which there are with: cachectl ls")
    }
  }
}
