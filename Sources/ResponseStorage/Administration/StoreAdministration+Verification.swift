public import CacheDomain
internal import StorageSPI

extension StoreAdministration {
  /// Checks the structure of the store by the engine's own means, then reads each entry and checks its checksum.
  ///
  /// An entry that cannot be read is an issue and stops nothing. The leases of flights are checked too, but not counted.
  /// Cost: each payload is read twice, in bounded memory.
  ///
  /// - Parameter progress: called now and then with the number of entries checked, and of all (`nil` where it is
  ///   unknown).
  /// - Throws: `CacheError`: the check could not be made, because the store is busy, out of reach or closed, or the task
  ///   was cancelled. Damage is no error but part of the report.
  public func verify(
    progress: (_ done: Int, _ total: Int?) -> Void = { _, _ in }
  ) async throws(CacheError) -> VerificationReport {
    let total = try await store.count()
    do throws(StorageError) {
      progress(0, total)
      var report = VerificationReport()
      for issue in try await structuralIssues() { report.add(issue) }
      let unreadable = report.keys
      var walk = StoreWalk(engine: store.engine, known: report.issues)
      while let page = try await walk.next() {
        await store.engine.releaseMemory()
        for entry in page {
          if entry.key.namespace != Lease.namespace { report.countEntries(1) }
          if !unreadable.contains(entry.key), let issue = try await check(entry) { report.add(issue) }
        }
        progress(report.entriesChecked, total)
      }
      report.countEntries(walk.unreadableEntries.count)
      for issue in walk.gaps { report.add(issue) }
      return report
    } catch {
      throw CacheError(error)
    }
  }

  private func structuralIssues() async throws(StorageError) -> [IntegrityIssue] {
    do throws(StorageError) {
      return try await store.engine.checkIntegrity()
    } catch {
      guard error.isOfData else { throw error }
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
  }

  /// What is wrong with an entry that was listed; `nil` where nothing is, or the entry was removed since.
  private func check(_ entry: EntrySummary) async throws(StorageError) -> IntegrityIssue? {
    let key = entry.key
    do throws(StorageError) {
      let isSound = try await store.engine.read(key) { bytes, metadata throws(StorageError) in
        metadata.isSound(key: key, payload: bytes)
      }
      if let isSound { return isSound ? nil : .mismatch(key) }
      // It may have been removed by now; but what is still listed must be there to be read.
      let listed = try await store.engine.scan(KeyRange(prefix: key.text), limit: 1)
      guard listed.first == entry else { return nil }
      return IntegrityIssue(key: key, kind: .structure, message: "it is listed, but not found by its key")
    } catch {
      guard error.isOfData else { throw error }
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }
}

extension IntegrityIssue {
  fileprivate static func mismatch(_ key: CacheKey) -> IntegrityIssue {
    IntegrityIssue(
      key: key, kind: .checksumMismatch, message: "the payload or the metadata is not what was written")
  }
}
