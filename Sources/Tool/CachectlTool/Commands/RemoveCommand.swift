internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore

/// `rm`.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove entries, or make them stale",
    discussion: """
      Conditions narrow each other down. If no entry meets them, or a key has no entry, the exit code is 66. --all \
      removes everything: a terminal asks first, elsewhere it needs --yes. It leaves an empty, intact store even if \
      the old one is damaged or the disk is full. --soft makes entries stale instead: the next fetch asks the origin, \
      and serves them if it fails.

      Examples:
        cachectl rm --state expired
        cachectl rm --namespace movies --older-than 7d --dry-run
        cachectl rm --soft https://example.com/data.json
        cachectl rm --all --yes
      """)

  @Argument(help: "The keys, as ls shows them, or URLs that were fetched", completion: .keys)
  var keys: [String] = []

  @OptionGroup
  var entries: EntryFlags

  @Option(help: ArgumentHelp("Only entries stored at least DURATION ago", valueName: "duration"))
  var olderThan: DurationText?

  @Flag(help: "Every entry")
  var all = false

  @Flag(help: "Make entries stale instead of removing them")
  var soft = false

  @Flag(help: "Only say what would be done")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  private var hasConditions: Bool { entries.selection(minimumAge: olderThan) != EntrySelection() }

  func validate() throws(ValidationError) {
    switch [!keys.isEmpty, hasConditions, all].count(where: { $0 }) {
    case 0: throw ValidationError("nothing to remove: give keys, conditions or --all")
    case 1: break
    default: throw ValidationError("keys, conditions and --all exclude each other")
    }
  }

  func run() async throws {
    let session = try Session(global)
    let asks = all && !dryRun && !yes
    if asks, !Question.canBeAsked {
      throw ValidationError("--all needs a confirmation, and there is no terminal to ask for it: add --yes")
    }
    let isWanted = asks ? await isConfirmed(session) : true
    guard isWanted else {
      global.remark(StatusLine([soft ? "Nothing was made stale" : "Nothing was removed"]))
      throw ExitCode.validationFailure
    }
    let view = try await remove(session)
    try global.show(view)
    if let name = view.missing.first { throw StorePresenter.notFound(name) }
    if let failure = view.failure { throw failure }
    if hasConditions, view.isEmpty { throw nothingMatches }
  }

  /// The error that no entry meets the conditions: one of them may be misspelled.
  private var nothingMatches: CacheError {
    let age = olderThan.map { ["--older-than \($0)"] } ?? []
    let conditions = (entries.conditions + age).joined(separator: " ")
    return CacheError(.notFound, "no entry matches \(conditions)", hint: "see which there are with: cachectl ls")
  }

  private func remove(_ session: Session) async throws(CacheError) -> RemovalView {
    if all, !dryRun, !soft {
      CrashNotice.runAgainAfterDamage()
      return try await session.container.removeAll { body throws(CacheError) in try await session.withStore(body) }
    }
    if dryRun { try session.requireIntactStore(session.configuration.backend) }
    return try await session.withStore { store throws(CacheError) in
      let presenter = session.container.makeStorePresenter(store)
      if !keys.isEmpty { return try await presenter.remove(names: keys, softly: soft, dryRun: dryRun) }
      return try await presenter.remove(
        entries.selection(minimumAge: olderThan), softly: soft, dryRun: dryRun)
    }
  }

  /// Whether the user agrees to remove everything in the store. The question omits the amount if the store is damaged,
  /// or only a walk through it would tell.
  private func isConfirmed(_ session: Session) async -> Bool {
    var summary: String?
    // Opening a crashed store would move it aside.
    if (try? session.container.crashedStore(backend: session.configuration.backend)) == nil {
      summary = try? await session.withStore { store throws(CacheError) in
        try await session.container.makeStorePresenter(store).statistics(countingStates: false).summary
      }
    }
    let entries = "every entry of \(session.configuration.backend)" + (summary.map { " (\($0))" } ?? "")
    return Question.confirm(soft ? "Make \(entries) stale?" : "Remove \(entries)?")
  }
}
