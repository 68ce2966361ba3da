internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `export`.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write entries with all their metadata as lines of JSON",
    discussion: """
      Without FILE, or where it is -, the lines go to the standard output, whatever --output says. FILE is written \
      whole or not at all, and for you alone. Entries that are damaged are left out; the exit code is then 65.

      Examples:
        cachectl export cache.ndjson
        cachectl export --namespace movies | gzip > movies.ndjson.gz
        cachectl export | cachectl --backend lmdb import
      """)

  @Argument(help: "The file to write", completion: .file())
  var file: String?

  @OptionGroup
  var entries: EntryFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  /// The path of the file; `nil` for the standard output.
  private var path: String? { file?.meansOutput == true ? nil : file }

  func run() async throws {
    let session = try Session(global)
    let view = try await session.withStore { store throws(CacheError) in
      try await writeEntries(of: store, session)
    }
    if path == nil { global.remark(view.remark) } else { try global.show(view) }
    if let failure = view.failure { throw failure }
  }

  private func writeEntries(of store: OpenStore, _ session: Session) async throws(CacheError) -> ExportView {
    let progress = ProgressDisplay("Exporting", isVisible: showsProgress)
    defer { progress.finish() }
    let presenter = session.container.makeTransferPresenter()
    guard let path else {
      return try await presenter.export(
        store, entries.selection(), to: nil, progress: progress.update(done:total:), write: Self.writeToOutput)
    }
    let file = try AtomicFile(path, isPrivate: true)
    let view = try await presenter.export(
      store, entries.selection(), to: path, progress: progress.update(done:total:)
    ) { lines throws(CacheError) in try file.write(lines) }
    try file.commit()
    return view
  }

  /// Lines that scroll by on the terminal are progress enough.
  private var showsProgress: Bool {
    global.showsProgress && !(path == nil && Console.output.screen.isTerminal)
  }

  private static func writeToOutput(_ lines: [UInt8]) throws(CacheError) {
    try Console.output.write(Console.output.screen.isTerminal ? JSONLines.safe(lines) : lines)
  }
}
