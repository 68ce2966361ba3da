internal import CommandLineKit
internal import CacheCore
internal import EngineAPI
internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase

/// Completes what a user may be typing: entries of the store that the command line names.
///
/// It answers within a second or not at all, and reports no errors: the line is not finished yet. It does not create a
/// missing store.
enum CompletionAnswer {
  /// Asks for the keys of entries.
  static let keys = "keys"
  /// Asks for the namespaces that have entries.
  static let namespaces = "namespaces"

  /// More values than a user would read.
  private static let maximumCount = 500
  private static let secondsAllowed: UInt32 = 1

  /// The options that select the store.
  private struct Place: ParsableCommand {
    @OptionGroup
    var global: GlobalOptions
  }

  /// Prints the answer to `query`.
  static func give(to query: CompletionQuery) async {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(secondsAllowed)
    guard let values = try? await values(query) else { return }
    Console.output.writeIfPossible(values.map { "\($0)\n" }.joined())
  }

  private static func values(_ query: CompletionQuery) async throws -> [String] {
    guard let place = query.options(of: Place.self) else { return [] }
    let container = try AppDIContainer.ofProcess(place.global.configurationFlags)
    let backend = container.configuration.backend
    guard try await container.hasStore(backend: backend) != false, try container.crashedStore(backend: backend) == nil
    else { return [] }
    let store = try await container.openStore()
    let values: [String] =
      if query.topic == namespaces {
        try await store.entries.count()?.namespaces.keys.sorted() ?? []
      } else {
        try await store.administration.list(
          EntrySelection(prefix: query.beginning), after: nil, limit: maximumCount
        ).entries.map(\.key.text)
      }
    try await store.close()
    return values
  }
}

extension CompletionKind {
  /// The keys of entries, looked up when the completion key is pressed.
  static var keys: CompletionKind { .asked(CompletionAnswer.keys) }
  /// The namespaces that have entries, looked up when the completion key is pressed.
  static var namespaces: CompletionKind { .asked(CompletionAnswer.namespaces) }
}
