internal import StorageSPI

/// Flights that all processes share that use the same store.
///
/// Within a process one caller for each key tries to take the lease in the store; the others wait without touching the
/// store. The caller that gets the lease leads, and the lease is renewed until the caller finishes. In any other process
/// one caller for each key looks at the lease, with growing pauses, until the lease is gone.
///
/// The lease of a crashed holder ends by itself: at once if its process is known to have ended, otherwise when it runs
/// out. A store whose server drops expired entries may drop it first. So a missing lease does not say how its flight
/// ended: if the answer is not in the store, one of the waiting callers leads. If the store fails or is read-only,
/// flights are shared within this process only.
///
/// An answer is stored only if its lease is still there: a change of what it fetches removes the lease. A lease can also
/// be lost because the process was suspended. Then the answer is returned and not stored.
///
/// A failed flight leaves its failure in the lease for two seconds, for those who saw the flight under way. A caller
/// that joins later takes the lease over at once.
///
/// Cost: joining and finishing each write a small entry; waiting reads it. Nothing happens before the first flight.
public final class LeasedFlights: FetchFlights {
  /// The result of trying to take a lease.
  private enum Claim {
    /// This process has the lease, or leases do not work.
    case taken
    /// Another process had the lease, and its flight failed.
    case failed(CacheError)
    /// Another process had the lease, and it is gone: that process finished and removed it, or the store's server dropped
    /// it as expired.
    case vanished
  }

  private let store: EntryStore
  private let processes: any ProcessTable
  private let timing: LeaseTiming
  /// The flights within this process.
  let local: LocalFlights

  /// Creates flights whose leases are kept in `store`.
  ///
  /// - Parameters:
  ///   - store: keeps the leases beside the entries.
  ///   - processes: knows this process, which its leases name, and which others have ended.
  ///   - timing: how long a lease holds.
  public init(
    store: EntryStore, processes: any ProcessTable = SystemProcessTable(), timing: LeaseTiming = LeaseTiming()
  ) {
    self.store = store
    local = LocalFlights(store.underWay)
    self.processes = processes
    self.timing = timing
  }

  /// Starts a flight for `key` with the caller as its leader, or waits until the current flight has ended, in this
  /// process or another.
  ///
  /// - Throws: `CacheError`: `cancelled`; `invalidRequest` if the flight waits for one that the calling task leads.
  public func join(_ key: String) async throws(CacheError) -> JoinResult {
    let joined = try await local.join(key)
    guard case .leading(let ticket) = joined else { return joined }
    do throws(CacheError) {
      switch try await claim(ticket) {
      case .taken: return .leading(ticket)
      case .failed(let failure):
        await local.finish(ticket, .failure(failure))
        return .finished(.failure(failure), of: ticket)
      case .vanished:
        local.vanish(ticket)
        return .vanished
      }
    } catch {
      await local.finish(ticket)
      throw error
    }
  }

  /// Starts a flight for `key` that no other caller joins, in this process or another.
  public func begin(_ key: String) -> FlightTicket { local.begin(key) }

  /// The number of changes that this process has made to the store.
  public var changes: Int { local.changes }

  /// Ends the flight of `ticket`: removes its lease, or leaves the failure in it, and resumes the waiting callers. Those
  /// of other processes get no answer: if it is not in the store, one of them asks for its own. So do all callers if
  /// another process has taken the lease away, as some of them may have come after what it changed.
  ///
  /// A task of its own deals with the lease, so that this also works if the caller's task was cancelled. If it fails,
  /// the lease runs out by itself.
  public func finish(_ ticket: FlightTicket, _ result: FlightResult) async {
    let isAbandoned = Task.isCancelled
    let lease = await store.leases.end(ticket)
    store.leases.forget(ticket)
    var isLost = false
    switch lease {
    case .none: break
    case .lost: isLost = true
    case .held(let key, let version): isLost = await !end(key, version, isAbandoned ? nil : result)
    }
    if isLost, !ticket.isOutdated { local.vanish(ticket) } else { await local.finish(ticket, result) }
  }

  /// Ends the lease under `key`, without a result as an abandoned one, and returns whether it was still there.
  private func end(_ key: CacheKey, _ version: UInt64, _ result: FlightResult?) async -> Bool {
    await Task { [table] in
      do throws(CacheError) {
        if case .success = result { return try await table.release(key, version: version) }
        let failure: CacheError? = if case .failure(let failure) = result { failure } else { nil }
        return try await table.end(key, version: version, failure)
      } catch {
        return true
      }
    }.value
  }

  /// Tries to take the lease, and waits while another process has it.
  private func claim(_ ticket: FlightTicket) async throws(CacheError) -> Claim {
    do throws(CacheError) {
      let key = try Lease.key(for: ticket.key)
      if try await take(key, expecting: .absent, for: ticket) { return .taken }
      var wait = LeaseWait(duration: timing.duration)
      while let found = try await table.find(key) {
        // A failure found at the first look belongs to an earlier flight.
        if wait.hasBegun, let failure = table.failure(found) { return .failed(failure) }
        wait.note(version: found.version)
        if wait.isOver || table.hasEnded(found),
          try await take(key, expecting: .checksum(found.version), for: ticket)
        {
          return .taken
        }
        if wait.isHopeless { throw CacheError(.busy, "the lease \(key) can be neither taken over nor waited for") }
        do { try await timing.sleep(wait.nextPause()) } catch { throw .cancelled }
      }
      return .vanished
    } catch {
      if Task.isCancelled { throw .cancelled }
      return .taken
    }
  }

  /// Takes the lease, if the store holds what `expecting` says, and keeps renewing it from then on.
  private func take(
    _ key: CacheKey, expecting: WriteBatch.Expectation, for ticket: FlightTicket
  ) async throws(CacheError) -> Bool {
    guard let taken = try await table.take(key, expecting: expecting) else { return false }
    let renewal = Task { [table, timing] in
      var version = taken
      while (try? await timing.sleep(timing.renewal)) != nil {
        do throws(CacheError) {
          guard let renewed = try await table.take(key, expecting: .checksum(version)) else { return UInt64?.none }
          version = renewed
        } catch {
          if error.code == .closed { return nil }
          // The lease holds for a while yet: try again at the next renewal.
        }
      }
      return version
    }
    store.leases.keep(key, renewal, for: ticket)
    return true
  }

  private var table: LeaseTable {
    LeaseTable(store: store, processes: processes, duration: timing.duration)
  }
}
