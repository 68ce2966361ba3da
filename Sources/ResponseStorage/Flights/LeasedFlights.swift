public import CacheData
public import CacheDomain
internal import StorageSPI
internal import Synchronization

/// Flights that all processes share which use one store.
///
/// Within a process one caller for each key tries for the lease in the store; the others wait without touching it. Who
/// gets the lease leads, and the lease is renewed until it lands. In other processes one caller for each key looks at
/// the lease with growing pauses until it is gone.
///
/// A lease whose holder crashed ends by itself: at once where its process is known to have ended, else when its time
/// has run out. A store whose server drops what has expired may drop it first. A lease that is gone therefore says
/// nothing of how its flight ended: where the answer is not in the store, one of those who waited leads. One that is lost, because the process was suspended or the clock was set, costs a second request and
/// nothing else. A store that fails or must not be written to is done without: the flight is this process's alone.
///
/// A flight that failed leaves its failure in the lease for two seconds, for those who saw it under way. Whoever boards
/// only then takes that lease over at once.
///
/// Cost: boarding and landing write a small entry each; waiting reads it. Nothing is done before the first boarding.
public final class LeasedFlights: FetchFlights {
  /// What became of trying for a lease.
  private enum Claim {
    /// It was got, or leases are of no use.
    case taken
    /// Another process had it, and its flight has failed.
    case failed(CacheError)
    /// Another process had it, and it is gone: removed when that process landed, or dropped by the store's server when
    /// its time was over.
    case vanished
  }

  private struct State {
    var holder: LeaseHolder?
    /// What keeps the leases of flights under way; each returns the last version of its lease, `nil` where it is lost.
    var renewals: [FlightTicket: Task<UInt64?, Never>] = [:]
  }

  private let store: EntryStore
  private let processes: any ProcessTable
  private let timing: LeaseTiming
  private let identify: @Sendable () -> LeaseHolder
  /// The flights within this process.
  let local = LocalFlights()
  private let state = Mutex(State())

  /// Flights whose leases are kept in `store`.
  ///
  /// - Parameters:
  ///   - store: where the leases are kept, beside the entries.
  ///   - processes: tells which holders have ended.
  ///   - timing: how long a lease holds.
  ///   - holder: makes the name under which the leases are held; called once, at the first boarding.
  public init(
    store: EntryStore, processes: any ProcessTable, timing: LeaseTiming = LeaseTiming(),
    holder: @escaping @Sendable () -> LeaseHolder
  ) {
    self.store = store
    self.processes = processes
    self.timing = timing
    identify = holder
  }

  /// Takes the lead of a flight for `key`, or waits until the one under way has ended, here or in another process.
  ///
  /// - Throws: `CacheError` with the code `cancelled`.
  public func board(_ key: String) async throws(CacheError) -> Boarding {
    let boarding = try await local.board(key)
    guard case .leading(let ticket) = boarding else { return boarding }
    do throws(CacheError) {
      switch try await claim(ticket) {
      case .taken: return .leading(ticket)
      case .failed(let failure):
        await local.land(ticket, failure: failure)
        return .landed(failure)
      case .vanished:
        local.vanish(ticket)
        return .vanished
      }
    } catch {
      await local.land(ticket)
      throw error
    }
  }

  /// Ends the flight of `ticket`, removes its lease if it is still held, or leaves `failure` in it, and tells those who
  /// wait.
  ///
  /// The lease is dealt with in a task of its own, so that it is also where the caller's task was cancelled. A failure
  /// to do so concerns nobody: the lease runs out.
  public func land(_ ticket: FlightTicket, failure: CacheError?) async {
    let isAbandoned = Task.isCancelled
    if let renewal = state.withLock({ $0.renewals.removeValue(forKey: ticket) }) {
      renewal.cancel()
      await Task { [table] in
        guard let version = await renewal.value, let key = try? Lease.key(for: ticket.key) else { return }
        if isAbandoned {
          try? await table.abandon(key, version: version)
        } else if let failure {
          try? await table.fail(key, version: version, failure)
        } else {
          try? await table.release(key, version: version)
        }
      }.value
    }
    await local.land(ticket, failure: failure)
  }

  /// Tries for the lease, and waits while another process has it.
  private func claim(_ ticket: FlightTicket) async throws(CacheError) -> Claim {
    do throws(StorageError) {
      let key = try Lease.key(for: ticket.key)
      let taken = try await table.take(key, expecting: .absent)
      if let taken {
        keep(key, version: taken, for: ticket)
        return .taken
      }
      return try await claimAfterWaiting(key, ticket)
    } catch {
      if Task.isCancelled { throw .cancelled }
      return .taken
    }
  }

  private func claimAfterWaiting(_ key: CacheKey, _ ticket: FlightTicket) async throws(StorageError) -> Claim {
    var wait = LeaseWait(duration: timing.duration)
    while let found = try await table.find(key) {
      // A failure that is there from the start is that of an earlier flight.
      if wait.hasBegun, let failure = table.failure(found) { return .failed(failure) }
      wait.note(version: found.version)
      if wait.isOver || table.hasEnded(found) {
        let taken = try await table.take(key, expecting: .checksum(found.version))
        if let taken {
          keep(key, version: taken, for: ticket)
          return .taken
        }
      }
      if wait.isHopeless { throw StorageError(.busy, "the lease \(key) can be neither taken over nor waited for") }
      try await pause(wait.nextPause())
    }
    return .vanished
  }

  private func pause(_ duration: Duration) async throws(StorageError) {
    do { try await timing.sleep(duration) } catch { throw StorageError(.cancelled, "cancelled", cause: error) }
  }

  /// Renews the lease from now on.
  private func keep(_ key: CacheKey, version: UInt64, for ticket: FlightTicket) {
    let renewal = Task { [table, timing] in
      var version = version
      while (try? await timing.sleep(timing.renewal)) != nil {
        do throws(StorageError) {
          guard let renewed = try await table.take(key, expecting: .checksum(version)) else { return UInt64?.none }
          version = renewed
        } catch {
          // It still holds for a while: the next time may do.
          continue
        }
      }
      return version
    }
    state.withLock { $0.renewals[ticket] = renewal }
  }

  private var table: LeaseTable {
    LeaseTable(store: store, processes: processes, holder: holder, duration: timing.duration)
  }

  private var holder: LeaseHolder {
    state.withLock { state in
      if let holder = state.holder { return holder }
      let holder = identify()
      state.holder = holder
      return holder
    }
  }
}
