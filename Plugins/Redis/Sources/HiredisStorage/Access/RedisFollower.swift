internal import EngineSupport
internal import Platform
internal import StorageSPI

/// Follows the changes that others make to a store on one server, on a thread and over a connection of its own. Both
/// begin with the first question for a mark.
///
/// The scripts publish the keys of what they change, and the follower subscribes to that. Once a second it subscribes
/// again, which changes nothing: the server answers after all earlier messages, and so proves that none was missed
/// until the question was sent. (PING would do the same, and need one more permission.)
///
/// `@unchecked Sendable`: the lock of `monitor` guards the variables.
final class RedisFollower: @unchecked Sendable {
  /// How long a proof is good before the next one is asked for.
  private static let interval = Duration.seconds(1)

  private let router: RedisRouter
  /// The name under which the engine itself publishes.
  private let publisher: String
  private let patience = RedisPatience(rest: .zero)
  private let marks = RedisMarks()
  private let monitor = Monitor()
  private var hasThread = false
  private var isClosed = false
  /// The connection that the thread listens on, for `close()` to end.
  private var connection: RedisConnection?

  /// A follower of `store`, which does nothing yet.
  init(_ store: RedisStore) { (router, publisher) = (store.limited(by: patience).router, store.publisher) }

  /// The mark of `key`; `nil` while the store is not followed.
  func mark(of key: CacheKey) -> ChangeMark? {
    if let mark = marks.mark(of: key) { return mark }
    start()
    return nil
  }

  /// Ends the thread and its connection, without waiting for them.
  func close() {
    patience.cancel()
    monitor.withLock {
      isClosed = true
      marks.lose()
      connection?.interrupt()
      monitor.signal()
    }
  }

  /// Starts the thread, unless there is one. If that is not possible, the next question tries again.
  private func start() {
    monitor.withLock {
      if !isClosed, !hasThread { hasThread = SystemThread.startDetached { self.run() } }
    }
  }

  private func run() {
    marks.prepare()
    var pauses = RedisPauses()
    repeat {
      if follow() { pauses = RedisPauses() }
    } while pause(pauses.next())
  }

  /// Waits for `duration`; returns `false` after `close()`.
  private func pause(_ duration: Duration) -> Bool {
    let end = Monitor.deadline(after: duration)
    return monitor.withLock {
      while !isClosed, monitor.wait(until: end) {}
      return !isClosed
    }
  }

  /// Follows the store until the connection is lost, and returns whether it did so at all.
  private func follow() -> Bool {
    // Calls report why there is no connection. Without a mark a cache reads, and so makes such a call.
    guard let connection = try? router.connect(), keep(connection) else { return false }
    defer {
      monitor.withLock {
        self.connection = nil
        marks.lose()
      }
    }
    var isFollowing = false
    try? listen(connection, &isFollowing)
    return isFollowing
  }

  /// Lets `close()` end `connection`; returns `false` after it.
  private func keep(_ connection: RedisConnection) -> Bool {
    connection.patience = nil
    return monitor.withLock {
      if !isClosed { self.connection = connection }
      return !isClosed
    }
  }

  /// Returns if the server refuses or falls silent, or if another one has taken its place.
  private func listen(_ connection: RedisConnection, _ isFollowing: inout Bool) throws(RedisDisconnection) {
    var (asked, isWaiting) = (try ask(connection), true)
    while router.topology.owner(of: 0) == connection.address {
      let due = asked.advanced(by: isWaiting ? router.options.silence : Self.interval)
      if ContinuousClock.now >= due {
        if isWaiting { return }
        (asked, isWaiting) = (try ask(connection), true)
      }
      guard let reply = try connection.receive(until: due) else { continue }
      guard let words = reply.value.elements, words.count == 3 else { return }
      switch words[0].text {
      case "message": words[2].withBytes(note)
      case "subscribe":
        if !isFollowing { marks.raiseAll() }
        (isFollowing, isWaiting) = (true, false)
        monitor.withLock { if !isClosed { marks.confirm(asked) } }
      default: return
      }
    }
  }

  /// Subscribes, again or for the first time. Returns the time before that.
  private func ask(_ connection: RedisConnection) throws(RedisDisconnection) -> ContinuousClock.Instant {
    let now = ContinuousClock.now
    var bytes: [UInt8] = []
    RedisCommand("SUBSCRIBE", router.options.layout.channel).encode(into: &bytes)
    try connection.send(bytes)
    return now
  }

  /// Records what a message of `RedisScript.publishSource` says.
  private func note(_ message: Span<UInt8>) {
    message.withUnsafeBufferPointer { message in
      let words = message.split(separator: UInt8(ascii: " "))
      guard let writer = words.first, !writer.elementsEqual(publisher.utf8) else { return }
      for key in words.dropFirst() {
        if key.elementsEqual("*".utf8) {
          marks.raiseAll()
        } else {
          marks.raise(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: key)))
        }
      }
    }
  }
}
