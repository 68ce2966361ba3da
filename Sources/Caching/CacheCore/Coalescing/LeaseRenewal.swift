/// Renews a lease until it is ended.
///
/// Ending it waits for a renewal under way, but not for the task that renews: to wake that takes longer than to store a
/// small entry.
final class LeaseRenewal: Sendable {
  private struct State {
    /// The last version of the lease; `nil` if it was lost.
    var version: UInt64?
    var isRenewing = false
    var isEnded = false
  }

  private let state: TaskMonitor<State>
  private let pause: @Sendable () async throws -> Void
  private let renew: @Sendable (UInt64) async -> UInt64?

  /// Keeps renewing a lease that has the version `version`.
  ///
  /// - Parameters:
  ///   - pause: waits until the next renewal.
  ///   - renew: renews the lease, and returns its new version; the same one if that failed but can be tried again, `nil` if
  ///     the lease is lost.
  init(
    _ version: UInt64, pause: @escaping @Sendable () async throws -> Void,
    renew: @escaping @Sendable (UInt64) async -> UInt64?
  ) {
    state = TaskMonitor(State(version: version))
    self.pause = pause
    self.renew = renew
  }

  /// Renews until the calling task is cancelled or the lease is lost.
  func run() async {
    while (try? await pause()) != nil {
      let version = state.withLock { state -> UInt64? in
        state.isRenewing = !state.isEnded
        return state.isEnded ? nil : state.version
      }
      guard let version else { return }
      let renewed = await renew(version)
      state.withLock { state in
        state.version = renewed
        state.isRenewing = false
      }
      state.signalAll()
      if renewed == nil { return }
    }
  }

  /// Renews no more, and returns the last version of the lease; `nil` if it was lost.
  func end() async -> UInt64? {
    state.withLock { $0.isEnded = true }
    await state.waitAlways { !$0.isRenewing }
    return state.withLock { $0.version }
  }
}
