internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `migrate`.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Copy every entry to another storage engine, and compare them",
    discussion: """
      Entries arrive as they are, with every time and attribute. Both stores are those of the configuration; the one \
      that is read is not changed. Entries that are newer where they would arrive are kept; expired ones are skipped. A \
      migration that was interrupted goes on when it is repeated. In the end each entry is read from both stores: the \
      status is 65 where one is damaged or differs.

      Examples:
        cachectl migrate --from sqlite --to lmdb --dry-run
        cachectl migrate --from sqlite --to lmdb
        cachectl migrate --from sqlite --to ./libcachectl-folder.so
      """)

  @Option(
    help: ArgumentHelp("Read the store of BACKEND", valueName: "backend"), completion: .backends)
  var from: String

  @Option(
    help: ArgumentHelp("Write to the store of BACKEND", valueName: "backend"), completion: .backends)
  var to: String

  @Flag(help: "Replace newer entries too")
  var overwrite = false

  @Flag(help: "Only say what would be copied")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if source == destination { throw ValidationError("--from and --to name the same backend, \(source)") }
  }

  private var source: String { EngineName.name(of: from) }
  private var destination: String { EngineName.name(of: to) }

  func run() async throws {
    let session = try Session(
      global, naming: [EngineReference(from, flag: "--from"), EngineReference(to, flag: "--to")])
    if dryRun { try session.requireIntactStore(source) }
    let view = try await session.withStore(toReadOf: source) { source throws(CacheError) in
      try await session.withStore(toWriteOf: destination, isDryRun: dryRun) { destination throws(CacheError) in
        try await migrate(source, destination, session)
      }
    }
    try global.show(view)
    if let failure = view.failure { throw failure }
  }

  private func migrate(
    _ opened: OpenStore, _ target: OpenStore?, _ session: Session
  ) async throws(CacheError) -> MigrationView {
    var progress = ProgressDisplay("Opening", isVisible: global.showsProgress)
    defer { progress.finish() }
    return try await session.container.makeTransferPresenter().migrate(
      from: (source, opened), to: (destination, target), overwrites: overwrite, isDryRun: dryRun
    ) { label, done, total in
      if progress.label != label { progress = ProgressDisplay(label, isVisible: global.showsProgress) }
      progress.update(done: done, total: total)
    }
  }
}
