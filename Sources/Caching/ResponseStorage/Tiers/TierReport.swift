public import StorageSPI
internal import Synchronization

/// Which tier answered how often, and why far did not.
final class TierCounts: Sendable {
  enum Tier {
    case near, far
  }

  private let near = Atomic(0)
  private let far = Atomic(0)
  private let hasFailure = Atomic(false)
  private let failure = Mutex<CacheError?>(nil)

  /// The numbers of entries that each tier has answered with, and the failure of the last call of far; `nil` if it
  /// answered.
  var current: (near: Int, far: Int, failure: CacheError?) {
    (near.load(ordering: .relaxed), far.load(ordering: .relaxed), failure.withLock { $0 })
  }

  /// Counts an answer with an entry.
  func count(_ tier: Tier) {
    switch tier {
    case .near: near.add(1, ordering: .relaxed)
    case .far: far.add(1, ordering: .relaxed)
    }
  }

  /// Records that far answered.
  func noteAnswer() {
    guard hasFailure.load(ordering: .relaxed) else { return }
    failure.withLock {
      $0 = nil
      hasFailure.store(false, ordering: .relaxed)
    }
  }

  /// Records that a call of far failed, if that is because far is away.
  func note(_ error: CacheError) {
    guard error.isAway else { return }
    failure.withLock {
      $0 = error
      hasFailure.store(true, ordering: .relaxed)
    }
  }
}

/// What one tier of an engine holds, and how it has served.
public struct TierReport: Sendable {
  /// The tier: "near" or "far".
  public let name: String
  /// How many reads it has answered with an entry since the store was opened.
  public let hits: Int
  /// Why it cannot be used; `nil` if all is well.
  public internal(set) var failure: CacheError?
  /// How much it holds; `nil` if that cannot be told.
  public internal(set) var statistics: StorageStatistics?
}

extension CacheError {
  /// Whether the engine is away, such as a server that cannot be reached or still loads its data, and may be back later.
  var isAway: Bool { code == .unreachable || code == .busy }

  /// Whether the store cannot be used, and must be rebuilt.
  var isDamage: Bool { code == .damaged }
}
