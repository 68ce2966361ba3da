internal import EngineAPI
internal import Synchronization

/// Follows the changes of the entries on one master, from the first question for a mark on, over its own connection.
///
/// The server reports each entry that is changed, removed or evicted, or expires (`CLIENT TRACKING` with `BCAST`), to a
/// channel to which the same connection subscribes. Once a second the follower sends it a ping. The reply comes after
/// all messages about earlier changes, and so proves that none was missed until the ping was sent.
final class RedisFollower: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isClosed = false
  }

  /// The age at which the follower requests the next proof.
  private static let interval = Duration.seconds(1)
  private static let none = Int64.min

  private let address: RedisAddress
  private let options: RedisOptions
  private let marks: RedisMarks
  /// Distinguishes this master from others: an entry that moves to another one might have changed on its way.
  private let number: UInt64
  /// The time of the last request for a proof, in nanoseconds since `marks.start`; `none` while the master is not
  /// followed.
  private let proof = Atomic<Int64>(RedisFollower.none)
  private let state = Mutex(State())

  init(_ address: RedisAddress, _ options: RedisOptions, _ marks: RedisMarks) {
    self.address = address
    self.options = options
    self.marks = marks
    number = marks.nextFollower()
  }

  /// The mark of `key`; `nil` while the master is not followed.
  func mark(of key: CacheKey) -> ChangeMark? {
    // First: a number that was read before a later proof would seem to be as recent as that.
    let proof = proof.load(ordering: .acquiring)
    guard proof != Self.none else { return nil }
    return ChangeMark(
      number: marks.number(of: key) &+ number << 56, age: marks.start.duration(to: .now) - .nanoseconds(proof))
  }

  /// Begins to follow, unless that has begun.
  ///
  /// - Parameter isMaster: whether the server is still a master.
  func start(_ names: RedisNames, _ isMaster: @escaping @Sendable () async -> Bool) {
    state.withLock { state in
      guard state.task == nil, !state.isClosed else { return }
      state.task = Task {
        var pauses = RedisPauses()
        repeat {
          if await self.follow(names, isMaster) { pauses = RedisPauses() }
        } while (try? await Task.sleep(for: pauses.next())) != nil
      }
    }
  }

  /// Ends for now, because the server is not a master any more, or for good.
  func stop(isFinal: Bool = false) {
    let task = state.withLock { state in
      defer { state = State(isClosed: state.isClosed || isFinal) }
      proof.store(Self.none, ordering: .relaxed)
      return state.task
    }
    task?.cancel()
  }

  /// Follows the master until the connection or the master is lost, and returns whether it did so at all.
  private func follow(_ names: RedisNames, _ isMaster: () async -> Bool) async -> Bool {
    // Calls report why there is no connection. Without a mark a cache reads, and so makes such a call.
    guard
      let connection = try? await RedisConnection.open(
        address, options, onMessage: { [marks] in marks.take($0, names) })
    else { return false }
    defer {
      connection.close()
      proof.store(Self.none, ordering: .relaxed)
    }
    let tracking = RedisCommand(
      "CLIENT", "TRACKING", "ON", "REDIRECT", "\(connection.role.client)", "BCAST", "PREFIX", names.start)
    guard
      let replies = try? await connection.send([tracking, RedisCommand("SUBSCRIBE", "__redis__:invalidate")]),
      replies.allSatisfy({ $0.error == nil })
    else { return false }
    // Changes of before might have been missed.
    marks.raiseAll()
    repeat {
      let asked = ContinuousClock.now
      guard let sign = try? await connection.send([RedisCommand("PING")])[0], sign.error == nil, await isMaster(),
        confirm(asked)
      else { break }
    } while (try? await Task.sleep(for: Self.interval)) != nil
    return true
  }

  /// Records that all changes until `instant` are known, and returns whether that still matters.
  private func confirm(_ instant: ContinuousClock.Instant) -> Bool {
    let (seconds, attoseconds) = marks.start.duration(to: instant).components
    return state.withLock { _ in
      if Task.isCancelled { return false }
      proof.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .releasing)
      return true
    }
  }
}

/// Numbers that change with the entries of a store, for all of its masters. Keys share 16,384 counters by their hashes: a
/// change costs a cache of 100,000 entries six needless reads besides the necessary one.
///
/// `@unchecked Sendable`: everything is atomic, what the pointer leads to as well.
final class RedisMarks: @unchecked Sendable {
  private static let stripeCount = 16_384

  let start = ContinuousClock.now
  private let counters = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: RedisMarks.stripeCount)
  /// Counts the times after which changes might have been missed.
  private let epoch = Atomic<UInt32>(0)
  private let followers = Atomic<UInt64>(0)

  init() { for index in 0..<Self.stripeCount { (counters + index).initialize(to: Atomic(0)) } }

  deinit {
    counters.deinitialize(count: Self.stripeCount)
    counters.deallocate()
  }

  /// A number for another follower.
  func nextFollower() -> UInt64 { followers.wrappingAdd(1, ordering: .relaxed).newValue }

  func number(of key: CacheKey) -> UInt64 {
    let counter = counters[Self.stripe(of: key)].load(ordering: .relaxed)
    return UInt64(epoch.load(ordering: .relaxed)) << 32 | UInt64(counter)
  }

  /// Records that any entry might have changed.
  func raiseAll() { epoch.wrappingAdd(1, ordering: .relaxed) }

  /// Records the changes that a message of the channel reports.
  func take(_ message: RedisValue, _ names: RedisNames) {
    // Without names all entries were removed (FLUSHALL).
    guard let changed = message.elements?.last?.elements else { return raiseAll() }
    for name in changed {
      guard let key = name.text.flatMap(names.key) else { continue }
      counters[Self.stripe(of: key)].wrappingAdd(1, ordering: .relaxed)
    }
  }

  static func stripe(of key: CacheKey) -> Int {
    // Keyed at random in each process, so that no keys can be chosen to share a counter.
    Int(UInt(bitPattern: key.hashValue) % UInt(stripeCount))
  }
}
