internal import StorageSPI
internal import Synchronization

/// What this process knows about the entries of near: which are the same in far.
///
/// Nothing in near is trusted by itself: other machines change far, a write to near may fail, and other processes may share
/// near. An entry of near answers only if a read or a write of this process has seen far hold the same version,
/// recently enough.
///
/// It is a table of fixed size. Two keys in one slot cost each other a confirmation, which is one more read of far.
final class NearConfirmations: Sendable {
  /// What is known before far is read: what is read may be older than what comes later.
  struct Reading: Sendable {
    /// The digest of the key.
    fileprivate let digest: UInt64
    fileprivate let version: UInt64
    fileprivate let epoch: UInt64
    fileprivate let knowledge: Knowledge
    fileprivate let at: ContinuousClock.Instant
  }

  /// What far says of changes that others make.
  enum Knowledge: Sendable {
    /// It says nothing: only time limits what near may answer.
    case none
    /// It follows changes, and may be late.
    case followed(ChangeMark)
    /// It counts all changes, at once; `nil` if it cannot tell at the moment.
    case counted(UInt64?)
  }

  private struct Slot {
    var checksum: UInt64 = 0
    /// What far said before it was read; `nil` if nothing is confirmed.
    var reading: Reading?
    /// Goes up with each change through this engine.
    var version: UInt64 = 0
    /// The number of changes in progress.
    var changes = 0
  }

  /// A part of the table, which exists once something in it is confirmed: a short-lived process confirms little.
  private final class Part: Sendable {
    let slots = Mutex<[Slot]>([])
  }

  /// The number of entries for which there are slots.
  private static let slotCount = 1 << 17
  private static let partCount = 256

  private let parts = (0..<partCount).map { _ in Part() }
  private let epoch = Atomic<UInt64>(0)
  private let maxAge: Duration
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Confirmations that hold for `maxAge` where far does not say more, by the clock `now`.
  init(maxAge: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    (self.maxAge, self.now) = (maxAge, now)
  }

  /// What is known of the key with that digest now, before far is read.
  func reading(_ digest: UInt64, _ knowledge: Knowledge) -> Reading {
    let version = withSlot(digest) { $0.version }
    return Reading(
      digest: digest, version: version, epoch: epoch.load(ordering: .acquiring), knowledge: knowledge, at: now())
  }

  /// Whether the entry with that checksum is the one that far holds, by what far says now.
  func isConfirmed(_ digest: UInt64, _ checksum: UInt64, _ knowledge: Knowledge) -> Bool {
    withSlot(digest) { slot in
      guard slot.checksum == checksum, slot.changes == 0, let then = slot.reading, then.digest == digest,
        then.epoch == epoch.load(ordering: .acquiring)
      else { return false }
      return holds(then, knowledge)
    }
  }

  private func holds(_ then: Reading, _ knowledge: Knowledge) -> Bool {
    switch (then.knowledge, knowledge) {
    case (.counted(let then), .counted(let now)): then != nil && then == now
    case (.followed(let followed), .followed(let mark)): followed.number == mark.number && isRecent(then)
    // What changed before far was followed is not known.
    case (.none, .followed): false
    default: isRecent(then)
    }
  }

  private func isRecent(_ reading: Reading) -> Bool { reading.at.duration(to: now()) < maxAge }

  /// Records that far held the version with that checksum when it was read after `reading`. Returns `false` if there was
  /// a change through this engine since: then it may hold another one by now.
  func confirm(_ checksum: UInt64, _ reading: Reading) -> Bool {
    guard reading.epoch == epoch.load(ordering: .acquiring) else { return false }
    return withSlot(reading.digest) { slot in
      guard slot.version == reading.version, slot.changes == 0 else { return false }
      (slot.checksum, slot.reading) = (checksum, reading)
      return true
    }
  }

  /// Begins a change of an entry: near does not answer for it until `endChange(_:_:)`.
  func beginChange(_ digest: UInt64, _ knowledge: Knowledge) -> Reading {
    let version = withSlot(digest) { slot in
      slot.version += 1
      slot.changes += 1
      return slot.version
    }
    return Reading(
      digest: digest, version: version, epoch: epoch.load(ordering: .acquiring), knowledge: knowledge, at: now())
  }

  /// Ends the change that began with `reading`. Far then holds the version with that checksum, unless another change
  /// came in between; `nil` if it is not known to.
  func endChange(_ checksum: UInt64?, _ reading: Reading) {
    let isCurrent = reading.epoch == epoch.load(ordering: .acquiring)
    withSlot(reading.digest) { slot in
      slot.changes -= 1
      if let checksum, isCurrent, slot.version == reading.version {
        (slot.checksum, slot.reading) = (checksum, reading)
      } else {
        slot.version += 1
        slot.reading = nil
      }
    }
  }

  /// Confirms nothing any more.
  func forgetAll() { epoch.add(1, ordering: .acquiringAndReleasing) }

  private func withSlot<Output>(_ digest: UInt64, _ body: (inout Slot) -> Output) -> Output {
    let perPart = Self.slotCount / Self.partCount
    return parts[Int(digest % UInt64(Self.partCount))].slots.withLock { slots in
      if slots.isEmpty { slots = Array(repeating: Slot(), count: perPart) }
      return body(&slots[Int(digest / UInt64(Self.partCount) % UInt64(perPart))])
    }
  }
}
