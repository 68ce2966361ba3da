internal import CacheBase
internal import CacheCore
internal import CommandLineKit
internal import EngineAPI
internal import FetchVocabulary

/// The names in a store that complete what a user is typing.
///
/// A failure is not reported, because the line is not finished yet. A missing store is not created.
enum StoredNames {
  /// More values than a user would read.
  private static let maximumCount = 500
  private static let secondsAllowed: UInt32 = 1

  /// The options that select the store.
  private struct Place: ParsableCommand {
    @OptionGroup
    var global: GlobalOptions
  }

  /// From now on, this process ends after a second: the user who has pressed the completion key waits for it.
  static func endSoon() {
    signal(SIGALRM) { _ in _exit(0) }
    alarm(secondsAllowed)
  }

  /// The keys that begin as `request` does.
  static func keys(_ request: CompletionRequest) async -> [String] {
    await names(request) { store throws(CacheError) in
      let selection = EntrySelection(prefix: request.beginning)
      return try await store.administration.list(selection, after: nil, limit: maximumCount).entries.map(\.key.text)
    }
  }

  /// The namespaces that have entries.
  static func namespaces(_ request: CompletionRequest) async -> [String] {
    await names(request) { store throws(CacheError) in
      try await store.entries.count()?.namespaces.keys.sorted() ?? []
    }
  }

  private static func names(
    _ request: CompletionRequest, _ names: (OpenStore) async throws(CacheError) -> [String]
  ) async -> [String] {
    guard let place = request.options(of: Place.self),
      let container = try? AppDIContainer.ofProcess(place.global.configurationFlags)
    else { return [] }
    let backend = container.configuration.backend
    do {
      // Opening a store that has ended a process would move it aside.
      guard try await container.hasStore(backend: backend) != false,
        try container.crashedStore(backend: backend) == nil
      else { return [] }
      let store = try await container.openStore()
      let found = try await names(store)
      try await store.close()
      return found
    } catch {
      return []
    }
  }
}

extension CompletionKind {
  /// The keys of entries.
  static var keys: CompletionKind { .custom { await StoredNames.keys($0) } }
  /// The namespaces that have entries.
  static var namespaces: CompletionKind { .custom { await StoredNames.namespaces($0) } }
}
