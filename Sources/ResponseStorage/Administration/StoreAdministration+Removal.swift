public import CacheDomain
public import StorageSPI

extension StoreAdministration {
  /// Removes all entries, leases aside, gives their room back to the file system, and makes sure that what is left is an
  /// empty, sound store.
  ///
  /// - Parameter held: receives how much the store held, before anything is removed.
  /// - Throws: `CacheError`: the engine failed, or part of the store is `damaged`; some entries may be removed then.
  public func removeAll(held: (EntryTally.Count) -> Void) async throws(CacheError) {
    do throws(StorageError) {
      held(try await StoreCount(store.engine).tally.total(except: Lease.namespace))
    } catch {
      throw CacheError(error)
    }
    let report = try await remove(EntrySelection(), dryRun: false)
    var problem = report.damage.entries.first.first.map { "entry \($0) cannot be read" } ?? report.damage.places.first
    if problem == nil {
      do throws(StorageError) {
        try await giveRoomBack()
        problem = try await store.engine.checkIntegrity().first?.message
      } catch {
        throw CacheError(error)
      }
    }
    if let problem { throw CacheError(.damaged, problem, hint: "see: cachectl verify") }
  }

  /// Makes sure that the store, from which all entries were removed, has room for one: on a full disk a removal may take up
  /// more than it frees.
  ///
  /// - Throws: `CacheError`: the engine cannot store an entry.
  public func requireRoom() async throws(CacheError) {
    do throws(StorageError) {
      let key = try CacheKey(Lease.keyPrefix + "room")
      let metadata = EntryMetadata(
        storedAt: store.clock.now, freshUntil: store.clock.now, retainUntil: store.clock.now, contentType: "text/plain")
      var batch = WriteBatch()
      batch.put(key, payload: [], metadata: metadata)
      batch.remove(key)
      try await store.engine.apply(batch)
    } catch {
      throw CacheError(error)
    }
  }

  /// On a full disk nothing can be stored before that. The entries are gone all the same where another process has the
  /// store in use.
  private func giveRoomBack() async throws(StorageError) {
    do throws(StorageError) {
      try await store.engine.compact()
    } catch {
      guard error.code == .busy else { throw error }
    }
  }

  /// Others have to be faster for so many times for a removal to give up.
  private static let removalAttempts = 100

  /// Removes the entries of `page`, which `selection` selected when they were listed, and returns them. An entry that
  /// was written since goes only if it is still selected: somebody else may have brought it up to date.
  ///
  /// - Throws: `CacheError`: the engine failed, or others changed the entries all the time (`conflict`); then none of the
  ///   page was removed.
  func remove(
    _ page: [EntrySummary], selectedBy selection: EntrySelection
  ) async throws(CacheError) -> [EntrySummary] {
    do throws(StorageError) {
      var rest = page
      for _ in 1..<Self.removalAttempts {
        do throws(StorageError) {
          try await remove(rest, isConditional: selection.mayCease)
          return rest
        } catch {
          guard error.code == .conflict else { throw error }
        }
        rest = try await current(rest, selectedBy: selection)
      }
      try await remove(rest, isConditional: selection.mayCease)
      return rest
    } catch {
      throw CacheError(error)
    }
  }

  private func remove(_ entries: [EntrySummary], isConditional: Bool) async throws(StorageError) {
    var batch = WriteBatch()
    for entry in entries {
      if isConditional { batch.remove(entry.key, ifStill: entry.metadata.checksum) } else { batch.remove(entry.key) }
    }
    try await store.engine.apply(batch)
  }

  /// Those of `entries` that are there and selected, as they are now.
  private func current(
    _ entries: [EntrySummary], selectedBy selection: EntrySelection
  ) async throws(StorageError) -> [EntrySummary] {
    var found: [EntrySummary] = []
    for entry in entries {
      let listed = try await store.engine.scan(KeyRange(prefix: entry.key.text), limit: 1).first
      if let listed, listed.key == entry.key, selection.contains(listed, at: store.clock.now) { found.append(listed) }
    }
    return found
  }
}

extension EntrySelection {
  /// Whether an entry that is selected may be so no longer once it was written again.
  fileprivate var mayCease: Bool { state != nil || minimumAge != nil }
}
