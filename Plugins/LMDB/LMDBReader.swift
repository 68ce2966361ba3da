internal import CLMDB
internal import EngineSupport
internal import StorageSPI

/// A reusable read transaction, with the handles of the databases that it has used. If nothing changes it stays open
/// and keeps seeing its state; see `KeptSnapshot`.
///
/// It is taken from its pool, used and returned inside the environment's gate.
///
/// `@unchecked Sendable`: the pool gives it to one caller at a time.
final class LMDBReader: SnapshotHolding, @unchecked Sendable {
  let environment: LMDBEnvironment
  private let transaction: LMDBTransaction
  private var databases: [LMDBDatabase]
  // Every read accesses these, and the caller has the reader to itself: checking exclusivity at run time costs too
  // much.
  /// The database used last, which is most often the next one too.
  @exclusivity(unchecked) private var latest: LMDBDatabase?
  @exclusivity(unchecked) private var kept: KeptSnapshot

  /// The caller is inside the gate.
  init(_ environment: LMDBEnvironment) throws(CacheError) {
    transaction = try environment.beginReading()
    transaction.reset()
    kept = KeptSnapshot(environment.snapshots)
    self.environment = environment
    databases = environment.knownDatabases
  }

  /// Finds the entry under `key` in the latest state. If there is one, the state is held until `end()`.
  ///
  /// This is the hot path: it allocates nothing, and is not generic, which saves looking up type metadata.
  func begin(reading key: UnsafeRawBufferPointer, namespaceLength: Int) throws(CacheError) -> LMDBEntry? {
    guard let database = try database(LMDBNamespace(key, count: namespaceLength)) else { return nil }
    try begin()
    do throws(CacheError) {
      if let value = try transaction.value(ofKey: key, in: database) {
        do throws(LMDBFault) {
          return try LMDBEntry(value)
        } catch {
          throw .lmdb(error, in: "entry \(String(decoding: key, as: UTF8.self))")
        }
      }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  /// The same, for a `CacheKey`.
  func begin(reading key: CacheKey) throws(CacheError) -> LMDBEntry? {
    try key.withBytes { bytes throws(CacheError) in try begin(reading: bytes, namespaceLength: key.namespaceLength) }
  }

  /// Calls `body` with the latest state.
  func withSnapshot<Output>(
    _ body: (LMDBTransaction) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    try begin()
    defer { end() }
    return try body(transaction)
  }

  /// Calls `body` with the latest state, and the databases of the namespaces that `isWanted`, in order.
  func withDatabases<Output>(
    of isWanted: (LMDBNamespace) -> Bool = { _ in true },
    _ body: (LMDBTransaction, [LMDBDatabase]) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      var namespaces: [LMDBNamespace] = []
      do {
        try begin()
        defer { end() }
        namespaces = try transaction.namespaces().filter(isWanted)
        let found = namespaces.compactMap { namespace in databases.first { $0.namespace == namespace } }
        if found.count == namespaces.count { return try body(transaction, found) }
      }
      endKeptSnapshot(unlessUsed: false)
      try environment.learnDatabases(namespaces)
      refreshDatabases()
    }
  }

  /// The handle of a namespace's database; `nil` if it does not exist. The handle must be known before the transaction
  /// begins: an older transaction cannot use a newer handle.
  private func database(_ namespace: LMDBNamespace) throws(CacheError) -> MDB_dbi? {
    if let latest, latest.namespace == namespace { return latest.handle }
    if !databases.contains(where: { $0.namespace == namespace }) {
      endKeptSnapshot(unlessUsed: false)
      try environment.learnDatabases([namespace])
      refreshDatabases()
    }
    latest = databases.first { $0.namespace == namespace }
    return latest?.handle
  }

  /// Adopts all known handles; a snapshot that began before could not use them.
  private func refreshDatabases() {
    endKeptSnapshot(unlessUsed: false)
    databases = environment.knownDatabases
  }

  private func begin() throws(CacheError) {
    if !kept.isCurrent(environment.latestTransaction) { try renew() }
  }

  private func renew() throws(CacheError) {
    endKeptSnapshot(unlessUsed: false)
    try environment.adoptingMapSize { () throws(CacheError) in try transaction.renew() }
    let number = UInt64(bitPattern: Int64(transaction.number))
    environment.confirm(number)
    kept.began(at: number)
  }

  /// Releases the state, unless the snapshot is kept.
  func end() {
    if !kept.stays() { transaction.reset() }
  }

  func endKeptSnapshot(unlessUsed: Bool) {
    guard kept.isDue(unlessUsed: unlessUsed) else { return }
    transaction.reset()
    kept.ended()
  }
}

extension CacheKey {
  /// Lends the UTF-8 bytes of the key's text.
  func withBytes<Output>(
    _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let text = text
    return try text.utf8Span.span.withUnsafeBytes { bytes throws(CacheError) in try body(bytes) }
  }
}

/// Turns a fault thrown by `body` into an error that names the entry.
func decoding<Output>(
  _ key: @autoclosure () -> CacheKey, _ body: () throws(LMDBFault) -> Output
) throws(CacheError) -> Output {
  do throws(LMDBFault) { return try body() } catch { throw .lmdb(error, in: "entry \(key())") }
}
