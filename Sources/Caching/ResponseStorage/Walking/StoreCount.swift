internal import FetchVocabulary
public import StorageSPI

/// How much a store holds, counted entry by entry if damage prevents the engine from knowing.
struct StoreCount {
  private(set) var tally: EntryTally
  /// The space that the store takes up on its medium, in bytes; `nil` if the engine cannot tell.
  private(set) var storageBytes: Int?
  /// What could not be counted.
  private(set) var damage = StoreDamage()
  /// The damage that prevented the engine from knowing; `nil` if there is none.
  private(set) var reason: CacheError?

  /// Counts what `engine` holds. Cost: that of the engine's statistics; with damage, a pass over all entries.
  init(_ engine: any StorageEngine) async throws(CacheError) {
    do throws(CacheError) {
      let found = try await engine.statistics()
      (tally, storageBytes) = (found.tally, found.storageBytes)
    } catch {
      guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
      (tally, reason) = (EntryTally(), error)
      var walk = StoreWalk(engine: engine)
      while let page = try await walk.next() {
        for entry in page {
          tally.add(
            EntryTally.Count(entries: 1, payloadBytes: entry.payloadBytes),
            to: EntryTally.Slot(namespace: entry.key.namespace, entry.metadata))
        }
      }
      damage = StoreDamage(walk)
    }
  }
}

extension EntryStore {
  /// The number of entries without leases; `nil` if damage, the `reason`, prevents the engine from counting them quickly.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func count() async throws(CacheError) -> (total: Int?, reason: CacheError?) {
    do throws(CacheError) {
      return (try await engine.statistics().tally.total(except: Lease.namespace).entries, nil)
    } catch {
      guard error.isOfData else { throw error }
      return (nil, error)
    }
  }
}

extension StoreDamage {
  /// This damage, or `reason` if all entries could be read and the engine could not count them for that reason.
  func explained(by reason: CacheError?) -> StoreDamage {
    guard isEmpty, let reason, reason.code == .damaged else { return self }
    return StoreDamage([], of: reason)
  }
}

extension EntryTally {
  /// The tally shown to people: everything except the leases of flights.
  public var withoutLeases: EntryTally { without(Lease.namespace) }
}
