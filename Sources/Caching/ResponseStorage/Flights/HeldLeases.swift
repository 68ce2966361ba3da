internal import CachedFetching
internal import StorageSPI
internal import Synchronization

/// A lease of this process, as it is in the store.
struct HeldLease: Sendable {
  let key: CacheKey
  /// The version of its entry.
  let version: UInt64
}

/// How a lease ended.
enum EndedLease: Sendable {
  /// The flight has none.
  case none
  /// It has been removed, or another process has taken it.
  case lost
  /// It still holds for a while, as far as this process knows.
  case held(HeldLease)
}

/// The leases that this process holds, each renewed by a task until its flight ends.
final class HeldLeases: Sendable {
  private final class Renewal: Sendable {
    let key: CacheKey
    let task: Task<UInt64?, Never>

    init(_ key: CacheKey, _ task: Task<UInt64?, Never>) { (self.key, self.task) = (key, task) }
  }

  private let renewals = Mutex<[FlightTicket: Renewal]>([:])

  /// Keeps the lease under `key` for the flight `ticket`. The task `renewal` renews it until it is cancelled, and returns
  /// its last version, or `nil` if it was lost.
  func keep(_ key: CacheKey, _ renewal: Task<UInt64?, Never>, for ticket: FlightTicket) {
    renewals.withLock { $0[ticket] = Renewal(key, renewal) }
  }

  /// Ends the renewal of the lease on the flight `ticket`, and returns the lease.
  func end(_ ticket: FlightTicket) async -> EndedLease {
    guard let renewal = renewals.withLock({ $0[ticket] }) else { return .none }
    renewal.task.cancel()
    guard let version = await renewal.task.value else { return .lost }
    return .held(HeldLease(key: renewal.key, version: version))
  }

  /// Ends all renewals, and returns the leases, which still hold for a while.
  func endAll() async -> [HeldLease] {
    var ended: [HeldLease] = []
    for ticket in renewals.withLock({ Array($0.keys) }) {
      if case .held(let lease) = await end(ticket) { ended.append(lease) }
      forget(ticket)
    }
    return ended
  }

  /// Forgets the lease on the flight `ticket`, which is no longer this process's.
  func forget(_ ticket: FlightTicket) { renewals.withLock { _ = $0.removeValue(forKey: ticket) } }
}
