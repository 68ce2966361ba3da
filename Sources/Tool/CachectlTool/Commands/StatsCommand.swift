internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `stats`.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show how much the store holds and how well it serves")

  @Flag(help: "Count fresh, stale and expired entries however many there are; by default only up to 100,000")
  var states = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let view = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).statistics(countingStates: states ? true : nil)
    }
    try global.show(view)
  }
}
