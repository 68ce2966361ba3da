internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `show`.
struct ShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show an entry: its metadata and its payload",
    discussion: """
      Examples:
        cachectl show queries/v1/recent
        cachectl show --raw queries/v1/recent | jq
        cachectl show https://example.com/data.json
      """)

  @Argument(help: "The key, as ls shows it, or the URL that was fetched", completion: .keys)
  var key: String

  @Flag(help: "Write the payload's bytes alone")
  var raw = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let entry = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).entry(key)
    }
    if raw { try Console.output.write(entry.payload) } else { try global.show(entry.view) }
  }
}
