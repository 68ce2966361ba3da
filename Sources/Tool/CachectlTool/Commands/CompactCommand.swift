internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `compact`.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Remove what has expired, and give the disk space back",
    discussion: """
      Entries that have not expired stay, also stale ones. Where it fails, because the disk is full or another process \
      holds the store, everything that had not expired is still there.
      """)

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    var line = TransientLine(isVisible: global.showsProgress)
    line.show("Compacting \(session.configuration.backend)")
    defer { line.clear() }
    let view = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).compact()
    }
    line.clear()
    try global.show(view)
  }
}
