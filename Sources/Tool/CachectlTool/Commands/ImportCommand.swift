internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `import`.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Read entries that were exported into the store",
    discussion: """
      Without FILE the standard input is read. Entries that the store has in a newer version are kept; expired ones \
      are skipped. A line that is not an entry ends the import with status 65 and its number. Entries are written several \
      at a time, and an import that was interrupted can be repeated: what is there already is skipped.

      Examples:
        cachectl import cache.ndjson
        cachectl --backend lmdb import cache.ndjson --dry-run
        gunzip < movies.ndjson.gz | cachectl import
      """)

  @Argument(help: "The file to read", completion: .file())
  var file: String?

  @Flag(help: "Replace newer entries too")
  var overwrite = false

  @Flag(help: "Only say what would be imported")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let input = try InputFile(file ?? "-")
    let view = try await session.withStore { store throws(CacheError) in
      try await read(input, into: store, session)
    }
    try global.show(view)
  }

  private func read(
    _ input: InputFile, into store: OpenStore, _ session: Session
  ) async throws(CacheError) -> ImportView {
    let progress = ProgressDisplay("Importing", isVisible: global.showsProgress)
    defer { progress.finish() }
    return try await session.container.makeTransferPresenter().read(
      file ?? "the standard input", into: store, overwrites: overwrite, isDryRun: dryRun,
      progress: progress.update(done:total:)
    ) { () async throws(CacheError) in try await input.next() }
  }
}
