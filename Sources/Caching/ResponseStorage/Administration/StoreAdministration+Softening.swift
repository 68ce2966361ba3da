public import FetchVocabulary
public import StorageSPI

/// Making entries stale instead of removing them: the next fetch asks the origin, and if that fails, they can still
/// answer.
extension StoreAdministration {
  /// How often other writers may be faster for a batch before it gives up.
  private static let softeningAttempts = 100
  /// The payload size at which a batch is written, in bytes: metadata is written together with its payload.
  private static let batchBytes = 4 << 20

  /// Makes the selected fresh entries stale, in batches; with `dryRun` it only counts them. What is being fetched of the
  /// selected entries now is not stored.
  ///
  /// Damaged entries are left alone and reported. Cost: each payload is read and written.
  ///
  /// - Throws: `CacheError`: the engine failed, or other writers kept changing entries (`conflict`). Entries made stale
  ///   before that stay stale.
  public func makeStale(_ selection: EntrySelection, dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var (report, fresh) = (RemovalReport(), selection)
    guard fresh.state ?? .fresh == .fresh else { return report }
    fresh.state = .fresh
    do throws(CacheError) {
      if !dryRun { try await endFlights(selection) }
      try await visit(fresh, after: nil) { page throws(CacheError) in
        let keys = page.map(\.key)
        if !dryRun, selection.selectsFlightsByEntry { try await store.endFlights(of: keys) }
        try await makeStale(keys, selectedBy: fresh, dryRun: dryRun, &report)
        return true
      }
    } catch {
      throw error.code == .cancelled ? report.interruption("made stale", dryRun: dryRun) : error
    }
    report.missing = []
    return report
  }

  /// Makes the fresh entries under `keys` stale in the same way.
  ///
  /// - Throws: `CacheError`: as `makeStale(_:dryRun:)`.
  public func makeStale(keys: [CacheKey], dryRun: Bool) async throws(CacheError) -> RemovalReport {
    var report = RemovalReport()
    if !dryRun { try await store.endFlights(of: keys) }
    try await makeStale(Set(keys).sorted(), selectedBy: EntrySelection(state: .fresh), dryRun: dryRun, &report)
    return report
  }

  private func makeStale(
    _ keys: [CacheKey], selectedBy selection: EntrySelection, dryRun: Bool, _ report: inout RemovalReport
  ) async throws(CacheError) {
    var (rest, attempts) = (keys[...], 0)
    while !rest.isEmpty {
      if Task.isCancelled { throw .cancelled }
      do throws(CacheError) {
        let (batch, part, left) = try await staleBatch(rest, selectedBy: selection)
        if !dryRun, !batch.operations.isEmpty { try await store.engine.apply(batch) }
        report.add(part)
        (rest, attempts) = (left, 0)
      } catch {
        attempts += 1
        guard error.code == .conflict, attempts < Self.softeningAttempts else { throw error }
      }
      await store.engine.releaseMemory()
    }
  }

  /// A batch that makes the first selected entries under `keys` stale, a report of what it does, and the remaining
  /// keys.
  private func staleBatch(
    _ keys: ArraySlice<CacheKey>, selectedBy selection: EntrySelection
  ) async throws(CacheError) -> (batch: WriteBatch, part: RemovalReport, left: ArraySlice<CacheKey>) {
    var (batch, part, left, bytes) = (WriteBatch(), RemovalReport(), keys, 0)
    while let key = left.first, bytes < Self.batchBytes {
      left.removeFirst()
      do throws(CacheError) {
        guard let entry = try await store.export(key, history: nil) else {
          part.missing.append(key)
          continue
        }
        let now = store.clock.now
        let summary = EntrySummary(key: key, metadata: entry.metadata, payloadBytes: entry.payload.count)
        guard selection.contains(summary, at: now) else { continue }
        var metadata = entry.metadata
        metadata.freshUntil = now
        metadata.checksum = metadata.computedChecksum(key: key, payload: entry.payload.span)
        batch.require(key, .checksum(entry.metadata.checksum))
        batch.put(key, payload: entry.payload, metadata: metadata)
        part.add([summary])
        bytes += entry.payload.count
      } catch {
        guard error.code == .damaged else { throw error }
        part.damaged.add(key)
      }
    }
    return (batch, part, left)
  }
}
