internal import StorageSPI
internal import Synchronization

/// The marks of all keys: numbers that grow with others' changes, and when the last proof that none was missed was
/// asked for.
///
/// One thread writes, any thread reads. Keys share 65,536 counters by their hashes: the table takes 256 KiB, and a
/// change costs a cache of 100,000 entries one or two needless reads besides the necessary one.
///
/// `@unchecked Sendable`: everything is atomic, what the pointer leads to as well.
final class RedisMarks: @unchecked Sendable {
  static let stripeCount = 65_536
  private static let none = Int64.min

  /// The table, which is there before the first proof.
  private let counters = Atomic<UnsafeMutablePointer<Atomic<UInt32>>?>(nil)
  /// Counts the times after which changes may have been missed.
  private let epoch = Atomic<UInt32>(0)
  /// When the last proof was asked for, in nanoseconds since `start`; `none` while the store is not followed.
  private let proof = Atomic<Int64>(RedisMarks.none)
  private let start = ContinuousClock.now

  deinit {
    guard let counters = counters.load(ordering: .relaxed) else { return }
    counters.deinitialize(count: Self.stripeCount)
    counters.deallocate()
  }

  /// Makes the table. The thread that writes calls this once.
  func prepare() {
    let table = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: Self.stripeCount)
    for index in 0..<Self.stripeCount { (table + index).initialize(to: Atomic(0)) }
    counters.store(table, ordering: .releasing)
  }

  /// The mark of `key`; `nil` while the store is not followed.
  func mark(of key: CacheKey) -> ChangeMark? {
    // First: a number that was read before a later proof would seem to be as recent as that.
    let proof = proof.load(ordering: .acquiring)
    guard proof != Self.none, let counters = counters.load(ordering: .relaxed) else { return nil }
    let counter = counters[Self.stripe(of: key)].load(ordering: .relaxed)
    return ChangeMark(
      number: UInt64(epoch.load(ordering: .relaxed)) << 32 | UInt64(counter),
      age: start.duration(to: .now) - .nanoseconds(proof))
  }

  /// Records a change of the entry whose key has the text `key`.
  func raise(_ key: UnsafeRawBufferPointer) {
    counters.load(ordering: .relaxed)?[Self.stripe(of: key)].wrappingAdd(1, ordering: .relaxed)
  }

  /// Records that any entry may have changed.
  func raiseAll() { epoch.wrappingAdd(1, ordering: .relaxed) }

  /// Records that all changes until `instant` are known.
  func confirm(_ instant: ContinuousClock.Instant) {
    let (seconds, attoseconds) = start.duration(to: instant).components
    proof.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .releasing)
  }

  /// Records that the store is not followed any more.
  func lose() { proof.store(Self.none, ordering: .relaxed) }

  static func stripe(of key: CacheKey) -> Int {
    key.text.utf8.span.withUnsafeBytes { stripe(of: $0) }
  }

  private static func stripe(of key: UnsafeRawBufferPointer) -> Int {
    // Keyed at random in each process, so that no keys can be chosen to share a counter.
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return Int(UInt(bitPattern: hasher.finalize()) % UInt(stripeCount))
  }
}
