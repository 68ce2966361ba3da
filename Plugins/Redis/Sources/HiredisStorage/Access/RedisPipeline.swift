internal import EngineSupport
internal import Platform
internal import StorageSPI

/// A connection to one server that any number of calls use at once: each sends its command behind those of the others,
/// and the replies come in the same order.
///
/// While calls overlap, a thread hands out the replies, so that a call changes threads once. While they follow each other,
/// each reads its own reply in place, which changes no thread. That blocks a thread of the cooperative pool for a round trip,
/// but only one at a time, for at most a millisecond, and rarely if the server is slower than that. (Waking up a thread
/// takes longer than a near server does to answer.)
///
/// The pipeline takes only what usually goes well. Where it cannot take a call, or has no answer for one, the call goes
/// another way, through `RedisRouter`. The connection and the thread exist while there are calls: they begin with the
/// third one, so that a program that makes one call does not pay for them, and end after some seconds without any.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the variables. Only the `reader` reads from the connection.
final class RedisPipeline: @unchecked Sendable {
  private enum Phase {
    case closed
    case idle
    /// The thread connects.
    case opening
    case open(RedisConnection)
  }

  /// Who reads from the connection.
  private enum Reader {
    /// No reader: nothing is expected, and the thread is parked.
    case absent
    /// The caller that sent the first of the commands that are not answered.
    case caller
    case thread
  }

  private enum Step {
    case wait(events: Int32, time: Duration)
    case give
    case fail(RedisDisconnection)
  }

  /// The call with which the connection is opened.
  private static let firstCall = 3
  /// The longest command: a longer one would keep others waiting, and fill the socket.
  private static let longestCommand = 16_384
  /// After how many calls that did not overlap callers read their own replies.
  private static let shortSequence = 8
  /// How long a caller waits in place.
  private static let longestRead = Duration.milliseconds(1)
  /// How many calls do not wait in place after one that has not got its answer there.
  private static let restAfterSlowRead = 64

  private let address: RedisAddress
  private let pool: RedisPool
  /// How long the server may be silent.
  private let silence: Duration
  /// How long the connection is kept without a call.
  private let idleTime: Duration

  private let monitor = Monitor()
  private var phase = Phase.idle
  private var reader = Reader.absent
  /// How many calls have found no connection since there was one.
  private var calls = 0
  /// The calls that were sent and not answered, in order.
  private var waiting: [RedisPipelinedCall] = []
  /// The rest of the last command, where the socket took only its beginning.
  private var unsent: [UInt8] = []
  /// When the last call was sent.
  private var lastUse = ContinuousClock.now
  /// How many calls in sequence did not overlap others; negative after a slow one.
  private var sequence = shortSequence

  /// A pipeline to the server at `address`, which connects when it is worth it.
  init(_ address: RedisAddress, _ pool: RedisPool, silence: Duration, idleTime: Duration = .seconds(10)) {
    (self.address, self.pool, self.silence, self.idleTime) = (address, pool, silence, idleTime)
  }

  /// The answer to `request`, or why there is none. If the task is cancelled, it returns within a millisecond.
  func answer(_ request: RedisRequest) async -> RedisPipelinedCall.Outcome {
    guard let connection = openConnection() else { return .unsent }
    var bytes: [UInt8] = []
    request.command(hashes: connection.hashes).encode(into: &bytes)
    guard bytes.count <= Self.longestCommand else { return .unsent }
    let call = RedisPipelinedCall()
    guard let reader = send(bytes, of: call, over: connection) else { return .unsent }
    if reader == .caller { read(connection, for: call) }
    return await call.outcome()
  }

  /// Ends the connection and the thread; calls without an answer stay without one.
  func close() {
    monitor.withLock {
      if case .open(let connection) = phase { connection.interrupt() }
      phase = .closed
      wakeThread()
    }
  }

  /// The connection; `nil` if there is none, and then perhaps soon.
  private func openConnection() -> RedisConnection? {
    let (connection, needsThread) = monitor.withLock { () -> (RedisConnection?, Bool) in
      if case .open(let connection) = phase { return (connection, false) }
      guard case .idle = phase else { return (nil, false) }
      calls += 1
      guard calls >= Self.firstCall else { return (nil, false) }
      phase = .opening
      return (nil, true)
    }
    if needsThread, !SystemThread.startDetached({ self.run() }) { _ = end() }
    return connection
  }

  /// Sends `bytes`.
  ///
  /// - Returns: who will finish `call`, the caller or another thread; `nil` if nothing was sent.
  private func send(_ bytes: [UInt8], of call: RedisPipelinedCall, over connection: RedisConnection) -> Reader? {
    monitor.withLock {
      guard case .open(let current) = phase, current === connection, unsent.isEmpty else { return nil }
      guard let count = connection.offer(bytes), count > 0 else {
        // The thread finds out whether the connection is broken.
        wakeThread()
        return nil
      }
      if count < bytes.count {
        // The thread goes on when it gets an answer to an earlier call. Without one it would not notice.
        if waiting.isEmpty { connection.interrupt() }
        unsent = Array(bytes[count...])
        wakeThread()
      }
      sequence = waiting.isEmpty ? sequence + 1 : min(sequence, 0)
      waiting.append(call)
      lastUse = call.start
      guard reader == .absent else { return .thread }
      reader = .caller
      return .caller
    }
  }

  /// Has the thread read, if nobody does. Called with the lock.
  private func wakeThread() {
    guard reader == .absent else { return }
    reader = .thread
    monitor.signal()
  }

  /// Reads for a moment on the caller's own thread, until `call` has its answer. The thread does the rest.
  private func read(_ connection: RedisConnection, for call: RedisPipelinedCall) {
    let end = call.start.advanced(by: Self.longestRead)
    while !call.isFinished, case let left = ContinuousClock.now.duration(to: end), left > .zero {
      // The thread meets every failure again.
      guard let isReady = try? connection.isReady(for: POLLIN, within: left), isReady,
        let replies = try? connection.takeArrived(), handOut(replies, from: connection)
      else { break }
    }
    let isSlow = !call.isFinished
    monitor.withLock {
      if isSlow { sequence = -Self.restAfterSlowRead }
      reader = .absent
      if case .open = phase, waiting.isEmpty, sequence >= 0 { return }
      wakeThread()
    }
  }

  /// Finishes the calls that `replies` are for, and returns whether there are as many.
  private func handOut(_ replies: [RedisReply], from connection: RedisConnection) -> Bool {
    let calls = monitor.withLock {
      defer { waiting.removeFirst(min(replies.count, waiting.count)) }
      return Array(waiting.prefix(replies.count))
    }
    for (call, reply) in zip(calls, replies) { call.finish(.answered(reply)) }
    if calls.count == replies.count { return true }
    // The peer does not speak the protocol.
    connection.interrupt()
    return false
  }

  private func run() {
    guard let connection = try? pool.take(address).connection, keep(connection) else {
      _ = end()
      return
    }
    do throws(RedisDisconnection) {
      try serve(connection)
      pool.give(connection)
    } catch {
      var isSilent = false
      if case .silent = error { isSilent = true }
      let lost = end()
      if isSilent {
        pool.removeIdle(address)
        pool.noteSilence(address)
      }
      for call in lost { call.finish(.lost(isSilent: isSilent)) }
    }
  }

  /// Lets calls use `connection`, and returns whether they may.
  private func keep(_ connection: RedisConnection) -> Bool {
    monitor.withLock {
      guard case .opening = phase else { return false }
      (phase, reader, lastUse) = (.open(connection), .absent, .now)
      sequence = Self.shortSequence
      return true
    }
  }

  /// Ends the use of the connection, and returns the calls that wait for it. The next calls count anew.
  private func end() -> [RedisPipelinedCall] {
    monitor.withLock {
      if case .closed = phase {} else { phase = .idle }
      defer { (waiting, unsent, calls) = ([], [], 0) }
      return waiting
    }
  }

  /// Reads from `connection` where no caller does. It returns when nobody has used the connection for a while.
  private func serve(_ connection: RedisConnection) throws(RedisDisconnection) {
    var heard = ContinuousClock.now
    while true {
      switch nextStep(connection, heard) {
      case .give: return
      case .fail(let error): throw error
      case .wait(let events, let time):
        guard try connection.isReady(for: events, within: time) else { continue }
        let replies = try connection.takeArrived()
        // Also the beginning of a large reply is a sign of life.
        heard = .now
        _ = handOut(replies, from: connection)
      }
    }
  }

  /// What the thread does next, as soon as it is its turn.
  ///
  /// - Parameter heard: when the server last answered the thread.
  private func nextStep(_ connection: RedisConnection, _ heard: ContinuousClock.Instant) -> Step {
    monitor.withLock {
      if case .open = phase, reader == .thread, waiting.isEmpty, sequence >= Self.shortSequence { reader = .absent }
      while reader != .thread {
        let isOver = !monitor.wait(until: Monitor.deadline(after: idleTime))
        if isOver, reader == .absent, isUnused { return give() }
      }
      guard case .open = phase else { return .fail(.abandoned) }
      if !unsent.isEmpty {
        guard let count = connection.offer(unsent) else { return .fail(.broken("the connection takes no more")) }
        unsent.removeFirst(count)
      }
      if let oldest = waiting.first {
        let left = ContinuousClock.now.duration(to: max(heard, oldest.start).advanced(by: silence))
        if left <= .zero { return .fail(.silent) }
        return .wait(events: unsent.isEmpty ? POLLIN : POLLIN | POLLOUT, time: left)
      }
      if isUnused { return give() }
      return .wait(events: POLLIN, time: min(silence, idleTime))
    }
  }

  private var isUnused: Bool { lastUse.duration(to: .now) >= idleTime }

  /// Ends the use of the connection, which the next call gets back. Called with the lock.
  private func give() -> Step {
    (phase, calls) = (.idle, Self.firstCall)
    return .give
  }
}
