internal import StorageSPI
internal import Synchronization

/// What this process knows about the entries of near: which are the same in far.
///
/// Nothing in near is trusted by itself: other machines change far, a write to near may fail, and other processes may share
/// near. An entry of near answers only if a read or a write of this process has seen far hold the same version,
/// recently enough.
///
/// It remembers some 260,000 entries, and takes memory for as many as were confirmed.
final class NearConfirmations: Sendable {
  /// What is known before far is read: what is read may be older than what comes later.
  struct Reading: Sendable {
    /// The digest of the key.
    fileprivate let digest: UInt64
    fileprivate let version: UInt64
    fileprivate let knowledge: Knowledge
    fileprivate let at: ContinuousClock.Instant
  }

  /// What far says of changes that others make.
  enum Knowledge: Sendable {
    /// It says nothing: only time limits what near may answer.
    case none
    /// It follows changes, and may be late: the number of the key's mark.
    case followed(UInt64)
    /// It counts all changes, at once; `nil` if it cannot tell at the moment.
    case counted(UInt64?)
  }

  private struct Confirmation {
    let checksum: UInt64
    let reading: Reading
  }

  /// The keys of a part, by their digests.
  private struct State {
    var confirmed: [UInt64: Confirmation] = [:]
    /// The numbers of changes in progress.
    var changing: [UInt64: Int] = [:]
    /// Goes up with each change through this engine.
    var version: UInt64 = 0
  }

  /// A part of the keys, so that threads seldom wait for each other.
  private final class Part: Sendable {
    let state = Mutex(State())
  }

  private static let partCount = 256
  /// When a part has confirmed so many entries, it starts again with none: their keys are spread evenly.
  static let maximumPerPart = 1_024

  private let parts = (0..<partCount).map { _ in Part() }
  private let maxAge: Duration
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Confirmations that hold for `maxAge` where far does not say more, by the clock `now`.
  init(maxAge: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    (self.maxAge, self.now) = (maxAge, now)
  }

  /// What is known of the key with that digest now, before far is read.
  func reading(_ digest: UInt64, _ knowledge: Knowledge) -> Reading {
    withPart(digest) { Reading(digest: digest, version: $0.version, knowledge: knowledge, at: now()) }
  }

  /// Whether the entry with that checksum is the one that far holds, by what far says now.
  func isConfirmed(_ digest: UInt64, _ checksum: UInt64, _ knowledge: Knowledge) -> Bool {
    let known = withPart(digest) { part in
      part.changing.isEmpty || part.changing[digest] == nil ? part.confirmed[digest] : nil
    }
    guard let known, known.checksum == checksum else { return false }
    return holds(known.reading, knowledge)
  }

  private func holds(_ then: Reading, _ knowledge: Knowledge) -> Bool {
    switch (then.knowledge, knowledge) {
    case (.counted(let then), .counted(let now)): then != nil && then == now
    case (.followed(let then), .followed(let now)) where then != now: false
    // What changed before far was followed is not known.
    case (.none, .followed): false
    default: then.at.duration(to: now()) < maxAge
    }
  }

  /// Records that far held the version with that checksum when it was read after `reading`. Returns `false` if there may
  /// have been a change through this engine since: then far may hold another one by now.
  func confirm(_ checksum: UInt64, _ reading: Reading) -> Bool {
    withPart(reading.digest) { part in
      guard part.version == reading.version, part.changing[reading.digest] == nil else { return false }
      Self.confirm(checksum, reading, &part)
      return true
    }
  }

  private static func confirm(_ checksum: UInt64, _ reading: Reading, _ part: inout State) {
    if part.confirmed.count >= maximumPerPart { part.confirmed.removeAll(keepingCapacity: true) }
    part.confirmed[reading.digest] = Confirmation(checksum: checksum, reading: reading)
  }

  /// Begins a change of an entry: near does not answer for it until `endChange(_:_:)`.
  func beginChange(_ digest: UInt64, _ knowledge: Knowledge) -> Reading {
    withPart(digest) { part in
      part.version += 1
      part.changing[digest, default: 0] += 1
      part.confirmed[digest] = nil
      return Reading(digest: digest, version: part.version, knowledge: knowledge, at: now())
    }
  }

  /// Ends the change that began with `reading`. Far then holds the version with that checksum, unless another change
  /// came in between; `nil` if it is not known to.
  func endChange(_ checksum: UInt64?, _ reading: Reading) {
    withPart(reading.digest) { part in
      let others = (part.changing[reading.digest] ?? 1) - 1
      part.changing[reading.digest] = others > 0 ? others : nil
      if let checksum, part.version == reading.version {
        Self.confirm(checksum, reading, &part)
      } else {
        part.version += 1
        part.confirmed[reading.digest] = nil
      }
    }
  }

  private func withPart<Output>(_ digest: UInt64, _ body: (inout State) -> Output) -> Output {
    parts[Int(digest % UInt64(Self.partCount))].state.withLock { body(&$0) }
  }
}
