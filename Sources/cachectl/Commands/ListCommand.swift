internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

/// `ls`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List entries in the order of their keys",
    discussion: """
      Where there are more entries than are shown, a cursor says so; --cursor goes on after it.

      Examples:
        cachectl ls --namespace cities
        cachectl ls --state expired --output ndjson
      """)

  @OptionGroup
  var entries: EntryFlags

  @Option(help: "Show at most N entries")
  var limit = 1_000

  @Option(help: "Go on after the key CURSOR")
  var cursor: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if limit < 1 { throw ValidationError("--limit is 1 or more") }
  }

  func run() async throws {
    let session = try Session(global)
    let view = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).entries(entries.conditions(), after: cursor, limit: limit)
    }
    try global.show(view)
  }
}
