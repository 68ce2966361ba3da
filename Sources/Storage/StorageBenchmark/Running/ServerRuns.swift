public import StorageSPI

/// The runs with stores on the server of one subject. They are noted there, in a store of its own, so that the next run
/// can remove what a killed run left.
///
/// Nothing else on the server is examined: the note of a run has the number of its stores, and their names follow from
/// the run's name.
public struct ServerRuns: Sendable {
  /// The name of the store with the notes. No run's store has it: those names end with a number.
  static let storeName = "bench-runs"
  private static let keyPrefix = "runs/v1/"
  private static let stores = "stores"
  /// More stores than any run has.
  private static let maximumStoreCount = 1_000
  /// As long as a server keeps the entries of a run, and a little more.
  private static let retention = Duration.seconds(3 * 3_600)

  private let subject: BenchmarkSubject
  private let now: Timestamp

  /// The runs on the server of `subject`, an engine with named stores, at the time `now`.
  public init(_ subject: BenchmarkSubject, now: Timestamp) { (self.subject, self.now) = (subject, now) }

  /// Removes the stores of runs that ended without doing so, and notes the run called `name`, which makes up to
  /// `storeCount` stores.
  ///
  /// - Parameters:
  ///   - owner: facts by which to tell later that the run has ended, under names that the caller chooses.
  ///   - hasEnded: whether the run of that owner has certainly ended.
  /// - Returns: how many runs it cleaned up after.
  /// - Throws: `CacheError`: the engine failed.
  public func begin(
    _ name: String, storeCount: Int, owner: [String: String], hasEnded: ([String: String]) -> Bool
  ) async throws(CacheError) -> Int {
    try await withNotes { notes throws(CacheError) in
      let end = now.advanced(by: Self.retention)
      var batch = WriteBatch()
      batch.put(
        try Self.key(name), payload: [],
        metadata: EntryMetadata(
          storedAt: now, freshUntil: end, retainUntil: end, contentType: "text/plain",
          attributes: owner.merging([Self.stores: String(storeCount)]) { $1 }))
      try await notes.apply(batch)
      var count = 0
      for note in try await notes.scan(KeyRange(prefix: Self.keyPrefix), limit: 1_000) {
        let run = String(note.key.text.dropFirst(Self.keyPrefix.count))
        guard run != name, EngineOption.isStoreName(run), hasEnded(note.metadata.attributes) else { continue }
        do throws(CacheError) {
          try await removeStores(of: run, count: Self.storeCount(note.metadata))
          try await Self.remove(note.key, from: notes)
          count += 1
        } catch {
          // A failure with the stores of that run does not concern this one; the next run tries again.
          if error.code == .cancelled { throw error }
        }
      }
      return count
    }
  }

  /// The number of stores in a note, clamped: it comes from a server.
  private static func storeCount(_ metadata: EntryMetadata) -> Int {
    min(max(0, metadata.attributes[stores].flatMap { Int($0) } ?? 0), maximumStoreCount)
  }

  /// Removes the note of the run called `name`, which has removed its stores.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func end(_ name: String) async throws(CacheError) {
    _ = try await withNotes { notes throws(CacheError) in
      try await Self.remove(try Self.key(name), from: notes)
      return 0
    }
  }

  private func removeStores(of run: String, count: Int) async throws(CacheError) {
    for number in 0..<count {
      let store = try await open(RoundStore.name(run, number))
      do throws(CacheError) {
        try await RoundStore.removeEntries(of: store) { _ in true }
      } catch {
        try? await store.close()
        throw error
      }
      try await store.close()
    }
  }

  private func withNotes(
    _ body: (any StorageEngine) async throws(CacheError) -> Int
  ) async throws(CacheError) -> Int {
    let notes = try await open(Self.storeName)
    do throws(CacheError) {
      let count = try await body(notes)
      try await notes.close()
      return count
    } catch {
      try? await notes.close()
      throw error
    }
  }

  private func open(_ name: String) async throws(CacheError) -> any StorageEngine {
    let configuration = try subject.configuration(
      folder: "", name: name, durability: .normal, clock: FixedClock(now: now))
    return try await subject.plugin.open(configuration)
  }

  private static func key(_ name: String) throws(CacheError) -> CacheKey { try CacheKey(keyPrefix + name) }

  private static func remove(_ key: CacheKey, from notes: any StorageEngine) async throws(CacheError) {
    var batch = WriteBatch()
    batch.remove(key)
    try await notes.apply(batch)
  }
}
