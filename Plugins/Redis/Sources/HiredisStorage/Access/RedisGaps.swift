internal import StorageSPI
internal import Synchronization

/// What a call could not reach of a store, and did without.
final class RedisGaps: Sendable {
  /// Parts without an answer, and the servers that have them.
  struct Found: Sendable {
    fileprivate(set) var parts: Set<Int> = []
    fileprivate(set) var servers: Set<RedisAddress> = []
  }

  private let state = Mutex(Found())

  /// What was found so far.
  var found: Found { state.withLock { $0 } }

  /// Records that there is no answer about `parts`.
  func add(_ parts: some Sequence<Int>, of servers: Set<RedisAddress>) {
    state.withLock { found in
      found.parts.formUnion(parts)
      found.servers.formUnion(servers)
    }
  }

  /// Records what another call has found.
  func add(_ other: Found) { add(other.parts, of: other.servers) }

  /// Says what is missing of the store of `options`; `nil` if nothing is.
  func text(_ options: RedisOptions) -> String? {
    let found = found
    guard !found.parts.isEmpty else { return nil }
    let names = found.servers.map(\.description).sorted()
    let places = names.prefix(Self.named).joined(separator: ", ") + (names.count > Self.named ? ", ..." : "")
    return "\(options): \(found.parts.count) of \(options.layout.parts.count) slots cannot be reached "
      + "(\(places.isEmpty ? "no node serves them" : places))"
  }

  /// How many servers to name.
  private static let named = 3
}

extension RedisStore {
  /// What `work` finds, which does without what cannot be reached.
  ///
  /// - Throws: `CacheError`: what `work` throws; why the store cannot be reached, if none of it can be.
  func reachable<Content: Sendable>(
    _ work: (RedisStore) throws(CacheError) -> Content
  ) throws(CacheError) -> Reachable<Content> {
    let gaps = RedisGaps()
    return Reachable(try work(tolerating(gaps)), missing: gaps.text(options))
  }
}
