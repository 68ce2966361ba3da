internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `ls`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List entries in the order of their keys",
    discussion: """
      Entries are written as they are read, so that a listing of any length takes no more memory than a short one. \
      Where --limit leaves some out, a cursor says so; --cursor goes on after it.

      Examples:
        cachectl ls --namespace cities
        cachectl ls --limit 100 --cursor cities/v1/page=7
        cachectl ls --state expired --output ndjson
      """)

  @OptionGroup
  var entries: EntryFlags

  @Option(help: "Show at most N entries")
  var limit: Int?

  @Option(help: "Go on after the key CURSOR")
  var cursor: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let limit, limit < 1 { throw ValidationError("--limit is 1 or more") }
  }

  func run() async throws {
    let session = try Session(global)
    var listing = EntriesStream(global.output, on: Console.output.screen)
    let next = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).entries(
        entries.conditions(), after: cursor, limit: limit ?? .max
      ) { page, readAt throws(CacheError) in
        try Console.output.write(listing.text(page, now: readAt))
      }
    }
    try Console.output.write(listing.end(cursor: next))
    if global.output == .table { global.remark(listing.status) }
  }
}
