internal import EngineAPI
internal import Synchronization

/// The versions of entries that this process has seen in the remote store of a `TieredEngine`.
///
/// A local copy is never trusted by itself: other machines change the remote store, a write to the local store might
/// fail, and other processes can share the local store. A copy is served only if a read of this process has found the
/// same version in the remote store, and the remote engine says that nothing has changed since.
///
/// A version is the `checksum` of an entry: two entries with the same key and checksum are the same version.
///
/// It remembers about 260,000 entries, and takes memory for as many as were confirmed.
final class Confirmations: Sendable {
  /// The state before the remote store is read. The read can find an entry that has changed by the time it returns.
  struct Moment: Sendable {
    /// The digest of the key.
    let digest: UInt64
    /// The number by which the remote engine tells changes; `nil` while it cannot tell.
    let change: UInt64?
    let time: Timestamp
    /// How many changes by this process had begun or ended.
    fileprivate let ownChanges: UInt64
  }

  private struct Confirmation {
    let version: UInt64
    let change: UInt64?
    let times: Range<Timestamp>
  }

  /// A part of the keys, so that threads seldom wait for each other.
  private final class Part: Sendable {
    struct State {
      /// By the digests of keys.
      var confirmed: [UInt64: Confirmation] = [:]
      /// The number of changes in progress.
      var running = 0
    }

    let state = Mutex(State())
    /// How many changes have begun or ended. It changes while `state` is locked.
    let ownChanges = Atomic<UInt64>(0)
  }

  private static let partCount: UInt64 = 256
  /// When a part has confirmed so many entries, it starts again with none: their keys are spread evenly.
  static let maximumPerPart = 1_024

  private let parts = (0..<partCount).map { _ in Part() }
  private let maxAge: Duration

  /// Confirmations that hold for `maxAge`.
  init(maxAge: Duration) { self.maxAge = max(maxAge, .zero) }

  /// The moment `time`, at which the remote engine tells `change` of the key with that digest.
  func moment(_ digest: UInt64, _ change: UInt64?, _ time: Timestamp) -> Moment {
    Moment(digest: digest, change: change, time: time, ownChanges: part(digest).ownChanges.load(ordering: .acquiring))
  }

  /// Whether that version is the one in the remote store, as far as is known at `moment`.
  func isConfirmed(_ version: UInt64, _ moment: Moment) -> Bool {
    let known = part(moment.digest).state.withLock { $0.confirmed[moment.digest] }
    guard let known, moment.change != nil else { return false }
    return known.version == version && known.change == moment.change && known.times.contains(moment.time)
  }

  /// Records that a read that began at `moment` has found that version. Returns `false` if this process has changed an entry
  /// meanwhile: then the remote store might have another version by now.
  func confirm(_ version: UInt64, _ moment: Moment) -> Bool {
    let part = part(moment.digest)
    return part.state.withLock { state in
      guard state.running == 0, part.ownChanges.load(ordering: .relaxed) == moment.ownChanges else { return false }
      if state.confirmed.count >= Self.maximumPerPart { state.confirmed.removeAll(keepingCapacity: true) }
      state.confirmed[moment.digest] = Confirmation(
        version: version, change: moment.change, times: moment.time..<moment.time.advanced(by: maxAge))
      return true
    }
  }

  /// Begins a change of the entry whose key has that digest. No copy of it is served until it is read again after
  /// `endChange(_:)`: meanwhile the remote store is read, which shows all of a batch or nothing of it.
  func beginChange(_ digest: UInt64) {
    let part = part(digest)
    part.state.withLock { state in
      state.running += 1
      part.ownChanges.add(1, ordering: .releasing)
      state.confirmed[digest] = nil
    }
  }

  /// Ends a change. A read that began before might have found the entry as it was before the change.
  func endChange(_ digest: UInt64) {
    let part = part(digest)
    part.state.withLock { state in
      state.running -= 1
      part.ownChanges.add(1, ordering: .releasing)
    }
  }

  private func part(_ digest: UInt64) -> Part { parts[Int(digest % Self.partCount)] }
}
