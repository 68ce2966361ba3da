internal import EngineSupport
internal import Platform
internal import StorageSPI
internal import Synchronization

/// A connection to one server that any number of calls use at once: each sends its command behind those of the others,
/// and a thread hands out the replies, which come in the same order.
///
/// So a call changes threads once, and waits for no other call's answer. The pipeline only takes what usually goes well.
/// If it cannot take a call, or has no answer for one, the call goes another way, through `RedisRouter`.
///
/// The connection and the thread exist while there are calls: they begin with the third call, so that a program that makes one
/// call does not pay for them, and end after some seconds without any.
///
/// A `RedisConnection` has one user at a time, and here it has two: under the lock of `state` callers write to it, and only the thread reads.
/// The two touch different parts of it.
final class RedisPipeline: Sendable {
  private enum Phase {
    case closed
    case idle
    /// The thread connects.
    case opening
    case open(RedisConnection)
  }

  private struct State {
    var phase = Phase.idle
    /// How many calls have found no connection since there was one.
    var calls = 0
    /// The calls that were sent and not answered, in order.
    var waiting: [RedisPipelinedCall] = []
    /// The rest of the last command, where the socket took only its beginning.
    var unsent: [UInt8] = []
    /// When the last call was sent.
    var lastUse = ContinuousClock.now
  }

  /// The call with which the connection is opened.
  private static let firstCall = 3
  /// The longest command: a longer one would keep others waiting, and fill the socket.
  private static let longestCommand = 16_384
  /// How long the connection is kept without a call.
  private static let idleTime = Duration.seconds(10)

  private let address: RedisAddress
  private let pool: RedisPool
  /// How long the server may be silent.
  private let silence: Duration
  private let state = Mutex(State())

  /// A pipeline to the server at `address`, which connects when it is worth it.
  init(_ address: RedisAddress, _ pool: RedisPool, silence: Duration) {
    (self.address, self.pool, self.silence) = (address, pool, silence)
  }

  /// The answer to `request`, or why there is none. If the task is cancelled, it returns at once.
  func answer(_ request: RedisRequest) async -> RedisPipelinedCall.Outcome {
    guard let connection = openConnection() else { return .unsent }
    var bytes: [UInt8] = []
    request.command(hashes: connection.hashes).encode(into: &bytes)
    guard bytes.count <= Self.longestCommand else { return .unsent }
    let call = RedisPipelinedCall()
    return await call.outcome { self.send(bytes, of: call, over: connection) }
  }

  /// Ends the connection and the thread; calls without an answer stay without one.
  func close() {
    state.withLock { state in
      if case .open(let connection) = state.phase { connection.interrupt() }
      state.phase = .closed
    }
  }

  /// The connection; `nil` if there is none, and then perhaps soon.
  private func openConnection() -> RedisConnection? {
    let (connection, needsThread) = state.withLock { state -> (RedisConnection?, Bool) in
      if case .open(let connection) = state.phase { return (connection, false) }
      guard case .idle = state.phase else { return (nil, false) }
      state.calls += 1
      guard state.calls >= Self.firstCall else { return (nil, false) }
      state.phase = .opening
      return (nil, true)
    }
    if needsThread, !DetachedThread.start({ self.run() }) { _ = end(.idle) }
    return connection
  }

  /// Sends `bytes`, and returns whether the thread will finish `call`.
  private func send(_ bytes: [UInt8], of call: RedisPipelinedCall, over connection: RedisConnection) -> Bool {
    state.withLock { state in
      guard case .open(let current) = state.phase, current === connection, state.unsent.isEmpty else { return false }
      // If the connection is broken, the thread finds out too.
      guard let count = connection.offer(bytes), count > 0 else { return false }
      if count < bytes.count {
        // The thread goes on when it gets an answer to an earlier call. Without one it would not notice.
        if state.waiting.isEmpty { connection.interrupt() }
        state.unsent = Array(bytes[count...])
      }
      state.waiting.append(call)
      state.lastUse = call.start
      return true
    }
  }

  private func run() {
    guard let connection = try? pool.take(address).connection, keep(connection) else {
      _ = end(.idle)
      return
    }
    do throws(RedisDisconnection) {
      try hand(connection)
      pool.give(connection)
    } catch {
      var isSilent = false
      if case .silent = error { isSilent = true }
      let lost = end(.idle)
      if isSilent {
        pool.removeIdle(address)
        pool.noteSilence(address)
      }
      for call in lost { call.finish(.lost(isSilent: isSilent)) }
    }
  }

  /// Lets calls use `connection`, and returns whether they may.
  private func keep(_ connection: RedisConnection) -> Bool {
    state.withLock { state in
      guard case .opening = state.phase else { return false }
      state.phase = .open(connection)
      state.lastUse = .now
      return true
    }
  }

  /// Ends the use of the connection, and returns the calls that wait for it. The next calls count anew.
  private func end(_ phase: Phase) -> [RedisPipelinedCall] {
    state.withLock { state in
      if case .closed = state.phase {} else { state.phase = phase }
      defer { (state.waiting, state.unsent, state.calls) = ([], [], 0) }
      return state.waiting
    }
  }

  /// Hands out what arrives on `connection`. It returns when the connection has not been used for a while.
  private func hand(_ connection: RedisConnection) throws(RedisDisconnection) {
    var heard = ContinuousClock.now
    while let (events, time) = try nextWait(connection, heard) {
      guard try connection.isReady(for: events, within: time) else { continue }
      let replies = try connection.takeArrived()
      if replies.isEmpty { continue }
      heard = .now
      let calls = state.withLock { state in
        defer { state.waiting.removeFirst(min(replies.count, state.waiting.count)) }
        return Array(state.waiting.prefix(replies.count))
      }
      for (call, reply) in zip(calls, replies) { call.finish(.answered(reply)) }
      guard calls.count == replies.count else { throw .broken("the server answers more than it was asked") }
    }
  }

  /// For what to wait on `connection`, and how long; `nil` if the thread ends because nobody uses the connection.
  ///
  /// - Parameter heard: when the server last answered.
  private func nextWait(
    _ connection: RedisConnection, _ heard: ContinuousClock.Instant
  ) throws(RedisDisconnection) -> (events: Int32, time: Duration)? {
    try state.withLock { state throws(RedisDisconnection) in
      guard case .open = state.phase else { throw .abandoned }
      if !state.unsent.isEmpty {
        guard let count = connection.offer(state.unsent) else { throw .broken("the connection takes no more") }
        state.unsent.removeFirst(count)
      }
      let now = ContinuousClock.now
      if let oldest = state.waiting.first {
        let left = now.duration(to: max(heard, oldest.start).advanced(by: silence))
        if left <= .zero { throw .silent }
        return (state.unsent.isEmpty ? POLLIN : POLLIN | POLLOUT, left)
      }
      if state.lastUse.duration(to: now) < Self.idleTime { return (POLLIN, min(silence, Self.idleTime)) }
      // The next call gets the connection back.
      (state.phase, state.calls) = (.idle, Self.firstCall)
      return nil
    }
  }
}
