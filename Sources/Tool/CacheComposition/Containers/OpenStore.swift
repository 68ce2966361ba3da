public import CacheCore
internal import FetchVocabulary
public import StorageSPI

/// An open store with its companions. Its opener closes it.
public struct OpenStore: Sendable {
  /// The entries of the store, including those of other storages.
  public let entries: EntryStore
  let background = BackgroundWork()
  /// A warning for the user: what was at the place of the store.
  public let warning: CacheError?
  private let ledger: any OperationLedger
  /// The capabilities of its engine.
  public let capabilities: Set<EngineCapability>

  init(
    entries: EntryStore, ledger: any OperationLedger, warning: CacheError?,
    capabilities: Set<EngineCapability>
  ) {
    self.capabilities = capabilities
    self.entries = entries
    self.warning = warning
    self.ledger = ledger
  }

  /// The administration of the store.
  public var administration: StoreAdministration { StoreAdministration(store: entries, ledger: ledger) }

  /// What users should know of the tiers of the store now; `nil` if all is well, or it has none.
  public var tierWarning: CacheError? { entries.tiered?.tierWarning }

  /// In which tier of the store the entry under `key` is, in a few words; `nil` if it has no tiers.
  public func tier(of key: String) async -> String? {
    guard let tiered = entries.tiered, let key = try? CacheKey(key) else { return nil }
    return await tiered.tier(of: key)
  }

  /// How many unexpired entries were evicted so far to keep the store within its bounds.
  public var evictions: Int { entries.operations.current.evictions }

  /// Waits for background work, such as the revalidation of a stale entry.
  ///
  /// - Returns: the failures to store what was fetched.
  public func finishBackgroundWork() async -> [CacheError] { await background.finish() }

  /// Waits for background work, closes the store, and records its use in the files beside it. Does not count the use of
  /// a read-only store: that it cannot be written is intended, and not a failure.
  ///
  /// - Throws: `CacheError`: the engine could not be closed in order, or a file could not be written; the others are.
  public func close() async throws(CacheError) {
    await background.finish()
    var failure: CacheError?
    do throws(CacheError) { try await entries.close() } catch { failure = error }
    if !capabilities.contains(.readOnly) {
      var failures: [CacheError] = []
      do throws(CacheError) { try ledger.add(entries.operations.take()) } catch { failures.append(error) }
      do throws(CacheError) { try await entries.accesses.flush() } catch { failures.append(error) }
      do throws(CacheError) { try entries.saveSweep() } catch { failures.append(error) }
      failure = failure ?? failures.first { $0.code != .permissionDenied }
    }
    if let failure { throw failure }
  }
}
