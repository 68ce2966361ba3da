internal import CacheBase
internal import EngineAPI

/// A connection to one server, logged in, which any number of calls share: each sends its commands behind those of the
/// others, and the replies come in the same order.
///
/// While calls overlap, the thread of the `RedisPoller` hands out the replies. While they follow each other, each reads its
/// own replies in place, because to wake up another thread takes longer than a near server does to answer. That blocks a
/// thread of the cooperative pool for a round trip, but only one at a time, for at most a millisecond, and rarely if the
/// server is slower than that.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the variables and the TLS session. Only the `reader` takes bytes from
/// the socket, and uses `replies` and `room`.
final class RedisConnection: @unchecked Sendable {
  /// What the server said of itself when the connection was opened.
  struct Role: Sendable {
    enum Mode: Sendable { case standalone, cluster, sentinel }

    let mode: Mode
    let isMaster: Bool
  }

  /// Who takes bytes from the socket.
  private enum Reader { case none, caller, poller }

  /// How long a caller waits in place, in milliseconds.
  private static let longestWaitInPlace: Int32 = 1
  /// After how many calls that did not overlap callers read their own replies.
  private static let shortSequence = 8
  /// How many calls must follow one that got no reply in place.
  private static let restAfterSlowReply = -64
  /// How long the poller keeps an unused connection.
  private static let idleTime = Duration.seconds(1)

  let address: RedisAddress
  /// Set before `open` returns.
  private(set) var role = Role(mode: .standalone, isMaster: false)
  private let url: String
  private let silence: Duration
  private let patience: Duration
  private let poller: RedisPoller
  private let onMessage: (@Sendable (RedisValue) -> Void)?
  private let socket: RedisSocket
  /// The encryption of the connection; `nil` if it has none.
  private let session: RedisTLSSession?
  private let replies: RedisReader
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)

  private let monitor = Monitor()
  private var reader = Reader.none
  /// Whether the poller waits for the socket, or is about to.
  private var isPolled = false
  /// Why the connection is closed; `nil` while it is open.
  private var failure: CacheError?
  /// What to do if the connection breaks, until the server has replied once; `nil` for no particular advice.
  private var hint: String?
  /// Whether the login has no reply yet.
  private var isNew = true
  /// The bytes to send, of which the first `sent` have been sent; `sentBefore` were sent before these.
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var sentBefore = 0
  /// The calls without all replies, a list of which these are the first and the last.
  private var oldest: RedisCall?
  private var newest: RedisCall?
  /// How many calls in sequence did not overlap others; negative after a slow one.
  private var sequence = shortSequence
  /// When something last arrived, or the server took something for which it had no room before.
  private var heard = ContinuousClock.now

  private init(
    _ address: RedisAddress, _ options: RedisOptions, _ patience: RedisPatience,
    _ onMessage: (@Sendable (RedisValue) -> Void)?
  ) throws(CacheError) {
    self.address = address
    self.onMessage = onMessage
    url = options.location.url(of: address)
    silence = options.silence
    self.patience = options.timeout / 25
    poller = options.poller
    replies = try RedisReader()
    session = options.encryption?.session(with: address.host)
    guard (session == nil) == (options.encryption == nil) else {
      throw CacheError(.failed, "there is no memory for TLS")
    }
    do throws(RedisBreak) {
      let socket = try RedisSocket(address, patience)
      if let session { try socket.shakeHands(session, patience) }
      self.socket = socket
    } catch {
      throw patience.isCancelled ? .cancelled : .unreachable(url, error)
    }
  }

  deinit { room.deallocate() }

  /// Connects to the server at `address`, and logs in.
  ///
  /// - Parameter onMessage: what takes each message of a subscription, in order, on the thread that reads. Such a
  ///   connection must be closed explicitly.
  /// - Throws: `unreachable` or `busy` if a retry or another server may help; anything else if not.
  static func open(
    _ address: RedisAddress, _ options: RedisOptions, onMessage: (@Sendable (RedisValue) -> Void)? = nil
  ) async throws(CacheError) -> RedisConnection {
    let patience = RedisPatience(options.connectTimeout)
    let (connection, login) = try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isStarted = SystemThread.startDetached {
          continuation.resume(
            returning: Result { () throws(CacheError) in
              let login = try RedisLogin(options, address)
              return (try RedisConnection(address, options, patience, onMessage), login)
            })
        }
        if !isStarted { continuation.resume(returning: .failure(CacheError(.failed, "no thread can be started"))) }
      }
    } onCancel: {
      patience.cancel()
    }.get()
    connection.hint = options.hintForNewConnection
    let replies: [RedisValue]
    do throws(RedisDisconnection) {
      replies = try await connection.send(login.commands)
    } catch {
      // A cancelled call leaves it open.
      connection.close()
      throw error.error
    }
    do throws(CacheError) {
      connection.role = try login.role(replies)
    } catch {
      connection.close()
      throw error
    }
    connection.monitor.withLock {
      connection.isNew = false
      connection.hint = nil
    }
    // Only the poller could notice a message.
    if onMessage != nil, connection.monitor.withLock({ connection.reader == .none }) { connection.leaveToPoller() }
    return connection
  }

  /// Whether commands can be sent, as far as is known.
  var isOpen: Bool { monitor.withLock { failure == nil } }

  /// Sends `commands` together, and returns all replies in order; an error reply is a value. If the task is cancelled, it
  /// waits for the replies for another twenty-fifth of the option timeout: a cancelled caller still releases what it holds.
  func send(_ commands: [RedisCommand]) async throws(RedisDisconnection) -> [RedisValue] {
    var bytes: [UInt8] = []
    for command in commands { command.encode(into: &bytes) }
    let call = RedisCall(commands.count)
    if enqueue(bytes, call) { readInPlace(call) }
    return try await result(of: call).get()
  }

  /// Ends the connection, and every wait for it.
  func close() { end(CacheError(.closed, "\(url): the connection is closed")) }

  /// Makes the poller the only reader from now on.
  private func leaveToPoller() {
    monitor.withLock { reader = .poller }
    if !poller.add(self) { fail(RedisBreak("no thread can be started")) }
  }

  // MARK: Sending

  /// Sends `bytes`, as far as the socket takes them, and returns whether the caller has to read its replies.
  private func enqueue(_ bytes: [UInt8], _ call: RedisCall) -> Bool {
    enum Rest {
      case nothing, read, leaveToPoller, wakePoller
      case fail(mayRead: Bool)
    }
    let rest = monitor.withLock { () -> Rest in
      if let failure {
        call.outcome = .failure(.notSent(failure))
        return .nothing
      }
      if oldest == nil {
        // If the server has ended an idle connection, the call can go over another one.
        if socket.hasEnded {
          defer { reader = .caller }
          return .fail(mayRead: reader == .none)
        }
        sequence += 1
      } else {
        sequence = min(sequence, 0)
      }
      call.position = sentBefore + outgoing.count
      append(call)
      append(bytes)
      // A poller that does not wait now will send before it waits.
      if reader == .poller, !isPolled { return .nothing }
      flush()
      if reader == .none {
        reader = .caller
        return outgoing.isEmpty ? .read : .leaveToPoller
      }
      return outgoing.isEmpty ? .nothing : .wakePoller
    }
    switch rest {
    case .nothing: break
    case .read: return true
    case .leaveToPoller: leaveToPoller()
    case .wakePoller: poller.wake()
    case .fail(let mayRead):
      // The server may have said why.
      if mayRead { takeArrived() }
      fail(RedisBreak("the server has closed the connection"))
      monitor.withLock { call.outcome = failure.map { .failure(.notSent($0)) } }
    }
    return false
  }

  private func append(_ call: RedisCall) {
    if let newest { newest.next = call } else { oldest = call }
    newest = call
  }

  private func removeOldest() {
    oldest = oldest?.next
    if oldest == nil { newest = nil }
  }

  /// How many bytes to encrypt at once: OpenSSL's buffer keeps the size that it has once had.
  private static let encryptedAtOnce = 65_536

  /// Adds `bytes` to what is to be sent. Called with the lock.
  private func append(_ bytes: [UInt8]) {
    guard let session else {
      if outgoing.isEmpty { outgoing = bytes } else { outgoing += bytes }
      return
    }
    for start in stride(from: 0, to: bytes.count, by: Self.encryptedAtOnce) {
      let part = bytes.span.extracting(start..<min(start + Self.encryptedAtOnce, bytes.count))
      let isEncrypted = part.withUnsafeBytes { (try? session.write($0)) != nil }
      // The reader finds out.
      guard isEncrypted else { return socket.end() }
      outgoing += session.takeOutput()
    }
  }

  /// Sends what the socket takes. Called with the lock.
  private func flush() {
    while sent < outgoing.count {
      // The reader finds out if the connection is broken.
      guard let count = try? socket.send(outgoing.span.bytes.extracting(sent...)) else { return socket.end() }
      if count == 0 { return }
      sent += count
    }
    sentBefore += sent
    sent = 0
    outgoing = []
  }

  // MARK: Receiving

  /// Reads for a moment on the caller's own thread, until `call` has its replies. The poller does the rest.
  private func readInPlace(_ call: RedisCall) {
    let end = call.start.advanced(by: .milliseconds(Int(Self.longestWaitInPlace)))
    var isFinished = false
    while !isFinished, .now < end, socket.hasInput(within: Self.longestWaitInPlace) {
      isFinished = takeArrived(call)
    }
    let isNeeded = monitor.withLock {
      if !isFinished { sequence = Self.restAfterSlowReply }
      if oldest != nil { return true }
      reader = .none
      return false
    }
    if isNeeded { leaveToPoller() }
  }

  /// Hands out the replies that have arrived, and returns whether `call` has its own. Only the reader calls this.
  @discardableResult
  private func takeArrived(_ call: RedisCall? = nil) -> Bool {
    var arrived: [RedisValue] = []
    do throws(RedisBreak) {
      let count = try socket.receive(into: room)
      let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
      if let session { try decrypt(bytes, session) } else { replies.feed(bytes) }
      while let reply = try replies.next() { arrived.append(reply) }
    } catch {
      fail(error)
      return true
    }
    var finished: [RedisCall] = []
    var messages: [RedisValue] = []
    var unexpected: RedisValue?
    let isFinished = monitor.withLock {
      heard = .now
      for reply in arrived {
        if onMessage != nil, reply.elements?.first?.text == "message" {
          messages.append(reply)
          continue
        }
        guard let first = oldest else {
          unexpected = reply
          break
        }
        first.replies.append(reply)
        guard first.replies.count == first.count else { continue }
        removeOldest()
        if first.finish(.success(first.replies)) { finished.append(first) }
      }
      return call?.outcome != nil
    }
    for message in messages { onMessage?(message) }
    for call in finished { call.resume() }
    if let unexpected { fail(Self.refusal(unexpected.error)) }
    return isFinished
  }

  private func decrypt(_ bytes: UnsafeRawBufferPointer, _ session: RedisTLSSession) throws(RedisBreak) {
    try monitor.withLock { () -> Result<Void, RedisBreak> in
      session.receive(bytes)
      let result = Result { () throws(RedisBreak) in try session.read { replies.feed($0) } }
      outgoing += session.takeOutput()
      flush()
      return result
    }.get()
  }

  // MARK: Waiting

  /// The result of `call`.
  private func result(of call: RedisCall) async -> RedisCall.Outcome {
    if let outcome = monitor.withLock({ call.outcome }) { return outcome }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = monitor.withLock { () -> RedisCall.Outcome? in
          if call.outcome == nil { call.continuation = continuation }
          return call.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      Task.detached { [self] in
        try? await Task.sleep(for: patience)
        if monitor.withLock({ call.finish(.failure(.unanswered(.cancelled))) }) { call.resume() }
      }
    }
  }

  private func fail(_ error: RedisBreak) {
    let refusal = monitor.withLock { isNew ? oldest?.replies.first?.error : nil }
    let error = refusal.map { Self.refusal($0) } ?? error
    let hint = error.hint ?? monitor.withLock { self.hint }
    end(.unreachable(url, error.reason, hint: hint, cause: error))
  }

  /// A server that takes no more clients, or none from outside, says so in an error before it ends the connection.
  private static func refusal(_ error: RedisServerError?) -> RedisBreak {
    guard let error else { return RedisBreak("the server sends a reply without a call") }
    return RedisBreak("it answers: \(error)", hint: "see the server's configuration")
  }

  private func end(_ error: CacheError) {
    var finished: [RedisCall] = []
    monitor.withLock {
      guard failure == nil else { return }
      failure = error
      while let call = oldest {
        removeOldest()
        let wasSent = call.position < sentBefore + sent
        if call.finish(.failure(wasSent ? .unanswered(error) : .notSent(error))) { finished.append(call) }
      }
      // Wakes up the reader.
      socket.end()
    }
    for call in finished { call.resume() }
  }

  /// For what the poller has to wait until when; `nil` if it no longer reads from this connection.
  func nextWait() -> (request: pollfd, end: ContinuousClock.Instant)? {
    let now = ContinuousClock.now
    let wait = monitor.withLock { () -> (request: pollfd, end: ContinuousClock.Instant)? in
      guard failure == nil else { return nil }
      let before = sentBefore + sent
      flush()
      if sentBefore + sent > before { heard = now }
      var end = now.advanced(by: Self.idleTime)
      if let oldest {
        end = max(heard, oldest.start).advanced(by: silence)
      } else if onMessage == nil, sequence >= Self.shortSequence || heard.advanced(by: Self.idleTime) <= now {
        reader = .none
        return nil
      }
      isPolled = true
      return (socket.request(outgoing.isEmpty ? POLLIN : POLLIN | POLLOUT), end)
    }
    guard let wait, wait.end <= now else { return wait }
    fail(.silence)
    return nil
  }

  /// Takes what the poller has waited for.
  func takePolled() {
    monitor.withLock { isPolled = false }
    takeArrived()
  }
}

/// A call that waits for its replies. The connection's lock guards it.
private final class RedisCall: @unchecked Sendable {
  typealias Outcome = Result<[RedisValue], RedisDisconnection>

  let start = ContinuousClock.now
  /// How many replies it waits for.
  let count: Int
  var replies: [RedisValue] = []
  var outcome: Outcome?
  var continuation: CheckedContinuation<Outcome, Never>?
  /// How many bytes the connection sends before those of the call.
  var position = 0
  var next: RedisCall?

  init(_ count: Int) { self.count = count }

  /// Ends the call unless it has ended, and returns whether somebody has to be woken up by `resume()`.
  func finish(_ outcome: Outcome) -> Bool {
    guard self.outcome == nil else { return false }
    self.outcome = outcome
    return continuation != nil
  }

  func resume() {
    guard let outcome, let continuation else { return }
    self.continuation = nil
    continuation.resume(returning: outcome)
  }
}
