public import StorageSPI

/// The runs that have stores on the server of one subject. They are noted there, in a store of their own, so that the
/// next run removes what one left that was killed.
///
/// Nothing else on the server is looked at: the note of a run says how many stores it has, and their names follow from
/// its own.
public struct ServerRuns: Sendable {
  /// The name of the store with the notes. No run has it: the names of runs end with a number.
  static let storeName = "bench-runs"
  private static let keyPrefix = "runs/v1/"
  private static let stores = "stores"
  /// More than any run has.
  private static let maximumStoreCount = 1_000
  /// As long as the entries of a run are kept by the server, and some more.
  private static let retention = Duration.seconds(3 * 3_600)

  private let subject: BenchmarkSubject
  private let now: Timestamp

  /// The runs on the server of `subject`, an engine whose stores have names, at the time `now`.
  public init(_ subject: BenchmarkSubject, now: Timestamp) { (self.subject, self.now) = (subject, now) }

  /// Removes the stores of the runs that have ended without doing it, and notes the run called `name`, which makes up to
  /// `storeCount` stores.
  ///
  /// - Parameters:
  ///   - owner: what tells later that the run has ended, by names of the caller's choice.
  ///   - hasEnded: whether the run of that owner certainly has.
  /// - Returns: how many runs were cleaned up after.
  /// - Throws: `StorageError`: the engine failed.
  public func begin(
    _ name: String, storeCount: Int, owner: [String: String], hasEnded: ([String: String]) -> Bool
  ) async throws(StorageError) -> Int {
    try await withNotes { notes throws(StorageError) in
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
        do throws(StorageError) {
          try await removeStores(of: run, count: Self.storeCount(note.metadata))
          try await Self.remove(note.key, from: notes)
          count += 1
        } catch {
          // What is wrong with the stores of that run is no matter of this one; the next run tries again.
          if error.code == .cancelled { throw error }
        }
      }
      return count
    }
  }

  /// How many stores a note speaks of, within bounds: it comes from a server.
  private static func storeCount(_ metadata: EntryMetadata) -> Int {
    min(max(0, metadata.attributes[stores].flatMap { Int($0) } ?? 0), maximumStoreCount)
  }

  /// Forgets the run called `name`, which has removed its stores.
  ///
  /// - Throws: `StorageError`: the engine failed.
  public func end(_ name: String) async throws(StorageError) {
    _ = try await withNotes { notes throws(StorageError) in
      try await Self.remove(try Self.key(name), from: notes)
      return 0
    }
  }

  private func removeStores(of run: String, count: Int) async throws(StorageError) {
    for number in 0..<count {
      let store = try await open(RoundStore.name(run, number))
      do throws(StorageError) {
        try await RoundStore.removeEntries(of: store) { _ in true }
      } catch {
        try? await store.close()
        throw error
      }
      try await store.close()
    }
  }

  private func withNotes(
    _ body: (any StorageEngine) async throws(StorageError) -> Int
  ) async throws(StorageError) -> Int {
    let notes = try await open(Self.storeName)
    do throws(StorageError) {
      let count = try await body(notes)
      try await notes.close()
      return count
    } catch {
      try? await notes.close()
      throw error
    }
  }

  private func open(_ name: String) async throws(StorageError) -> any StorageEngine {
    let configuration = try subject.configuration(
      folder: "", name: name, durability: .normal, clock: FixedClock(now: now))
    return try await subject.plugin.open(configuration)
  }

  private static func key(_ name: String) throws(StorageError) -> CacheKey { try CacheKey(keyPrefix + name) }

  private static func remove(_ key: CacheKey, from notes: any StorageEngine) async throws(StorageError) {
    var batch = WriteBatch()
    batch.remove(key)
    try await notes.apply(batch)
  }
}
