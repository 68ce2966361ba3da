internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import Glibc

/// What a user may have in mind who presses the completion key: entries of the store that the command line names.
///
/// It answers within a second or not at all, and says nothing of what goes wrong: the line is not yet finished. A store
/// that is not there is not made.
enum CompletionAnswer {
  /// The keys of entries.
  static let keys = "keys"
  /// The namespaces that have entries.
  static let namespaces = "namespaces"

  /// More values than a user reads.
  private static let maximumCount = 500
  private static let secondsAllowed: UInt32 = 1

  /// The options that say which store is meant.
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
    guard try await container.hasStore(backend: container.configuration.backend) != false else { return [] }
    let store = try await container.openStore()
    let presenter = container.makeStorePresenter(store)
    let values =
      query.topic == namespaces
      ? try await presenter.statistics().namespaces.map(\.name)
      : try await presenter.keys(beginning: query.beginning, limit: maximumCount)
    try await store.close()
    return values
  }
}

extension CompletionKind {
  /// The keys of entries, as they are when the completion key is pressed.
  static var keys: CompletionKind { .asked(CompletionAnswer.keys) }
  /// The namespaces that have entries then.
  static var namespaces: CompletionKind { .asked(CompletionAnswer.namespaces) }
}
