internal import CacheData
public import CacheDomain
public import CachePresentation
public import ResponseStorage
internal import StorageSPI

/// A store that is open, and what goes with it. Whoever opened it closes it.
public struct OpenStore: Sendable {
  /// The entries of the store, for the storages of resources, those of others among them.
  public let entries: EntryStore
  let flights: any FetchFlights
  let background = BackgroundWork()
  /// What the user has to know before the store is read.
  public let warning: CacheError?
  private let ledger: any UsageLedger

  init(entries: EntryStore, flights: any FetchFlights, ledger: any UsageLedger, warning: CacheError? = nil) {
    self.entries = entries
    self.flights = flights
    self.warning = warning
    self.ledger = ledger
  }

  /// What is known to be lost of the store, besides what a listing or another report names.
  public var damage: DamageList { DamageList(entries.damage) }

  /// The administration of the store.
  public var administration: StoreAdministration { StoreAdministration(store: entries, ledger: ledger) }

  /// How many entries that had not expired were removed until now to keep the store within its bounds.
  public var evictions: Int { entries.usage.current.evictions }

  /// Waits for the work that goes on in the background, such as bringing a stale entry up to date.
  ///
  /// - Returns: the failures of the cache to keep what was fetched.
  public func finishBackgroundWork() async -> [CacheError] { await background.finish() }

  /// Waits for the work that goes on in the background, closes the store, and adds to the files beside it how it was
  /// used. The use of a store that may only be read is not counted: that it cannot be written to is how it was set up,
  /// and no failure.
  ///
  /// - Throws: `CacheError`: the engine could not be closed in order, or the files not be written.
  public func close() async throws(CacheError) {
    await background.finish()
    try await entries.close()
    do throws(CacheError) {
      try await entries.uses.flush()
      try ledger.add(entries.usage.take())
    } catch {
      if error.code != .permissionDenied { throw error }
    }
  }
}
