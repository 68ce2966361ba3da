internal import CacheBase
internal import EngineAPI

/// A connection to one server, logged in, which any number of calls share: each sends its commands behind those of the
/// others, and the replies come in the same order.
///
/// While calls overlap, a thread hands out the replies. While they follow each other, each reads its own replies in place,
/// because to wake up another thread takes longer than a near server does to reply. That blocks a thread of the cooperative
/// pool for a round trip, but only one at a time, for at most a millisecond, and rarely if the server is slower than that.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the variables and the TLS session. Only the `reader` takes bytes from
/// the socket, and uses `replies` and `room`.
final class RedisConnection: @unchecked Sendable {
  /// The role of a server, from its own replies.
  struct Role: Sendable {
    enum Mode: String, Sendable { case standalone, cluster, sentinel }

    var mode = Mode.standalone
    var isMaster = false
    /// The server's number for the connection.
    var client: Int64 = 0
  }

  /// Who takes bytes from the socket.
  private enum Reader { case none, caller, thread }

  /// How long a caller waits in place, in milliseconds.
  private static let longestWaitInPlace: Int32 = 1
  /// After how many calls that did not overlap callers read their own replies.
  private static let shortSequence = 8
  /// How many calls must follow one that got no reply in place.
  private static let restAfterSlowReply = -64
  /// How long the thread lives without calls.
  private static let idleTime = Duration.seconds(1)
  /// How long the thread waits before it looks for bytes that the socket has not taken, in milliseconds: a caller cannot wake
  /// it up.
  private static let interval: Int32 = 10

  let address: RedisAddress
  /// Set before `open` returns.
  private(set) var role = Role()
  private let url: String
  private let silence: Duration
  private let patience: Duration
  /// The hint for a connection that breaks before the server has replied.
  private let hintWhileNew: String?
  private let onMessage: (@Sendable (RedisValue) -> Void)?
  private let socket: RedisSocket
  /// The encryption of the connection; `nil` if it has none.
  private let session: RedisTLSSession?
  private let replies: RedisReader
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)

  private let monitor = Monitor()
  private var reader = Reader.none
  /// Whether the thread waits for the socket, or is about to.
  private var isWaiting = false
  /// Why the connection is closed; `nil` while it is open.
  private var failure: CacheError?
  /// Whether the login has no reply yet.
  private var isNew = true
  /// The bytes to send, of which the first `sent` have been sent; `sentBefore` were sent before these.
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var sentBefore = 0
  /// The calls without all replies, the oldest first.
  private var calls: [RedisCall] = []
  /// How many calls in sequence did not overlap others; negative after a slow one.
  private var sequence = shortSequence
  /// When something last arrived, or the server took something for which it had no room before.
  private var heard = ContinuousClock.now

  private init(
    _ address: RedisAddress, _ options: RedisOptions, _ onMessage: (@Sendable (RedisValue) -> Void)?
  ) throws(CacheError) {
    let deadline = ContinuousClock.now.advanced(by: options.connectTimeout)
    self.address = address
    self.onMessage = onMessage
    url = options.location.url(of: address)
    silence = options.silence
    self.patience = options.timeout / 25
    hintWhileNew = options.hintForNewConnection
    replies = try RedisReader()
    do throws(RedisBreak) {
      let session = try options.encryption?.session(with: address.host)
      let socket = try RedisSocket(address, until: deadline)
      if let session { try socket.shakeHands(session, until: deadline) }
      self.session = session
      self.socket = socket
    } catch {
      throw .unreachable(url, error)
    }
  }

  deinit { room.deallocate() }

  /// Connects to the server at `address`, and logs in. A cancelled task still waits for the connection, for the option
  /// connectTimeout at most.
  ///
  /// - Parameter onMessage: what takes each message of a subscription, in order, on the thread that reads. Such a
  ///   connection must be closed explicitly.
  /// - Throws: `unreachable` or `busy` if a retry or another server might help; anything else if not.
  static func open(
    _ address: RedisAddress, _ options: RedisOptions, onMessage: (@Sendable (RedisValue) -> Void)? = nil
  ) async throws(CacheError) -> RedisConnection {
    let (login, connection) = try await BlockingExecutor().run { () throws(CacheError) in
      (try RedisLogin(options), try RedisConnection(address, options, onMessage))
    }
    do throws(CacheError) {
      connection.role = try login.role(try await connection.ask(login.commands), url: connection.url)
    } catch {
      // A cancelled call leaves it open.
      connection.close()
      throw error
    }
    let needsThread = connection.monitor.withLock {
      connection.isNew = false
      // Only the thread could notice a message.
      guard onMessage != nil, connection.reader == .none else { return false }
      connection.reader = .thread
      return true
    }
    if needsThread { connection.startThread() }
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

  /// The same, if it does not matter whether the commands were sent.
  func ask(_ commands: [RedisCommand]) async throws(CacheError) -> [RedisValue] {
    do throws(RedisDisconnection) { return try await send(commands) } catch { throw error.error }
  }

  /// Ends the connection, and every wait for it.
  func close() { end(CacheError(.closed, "\(url): the connection is closed")) }

  // MARK: Sending

  /// Sends `bytes`, as far as the socket takes them, and returns whether the caller must read its replies.
  private func enqueue(_ bytes: [UInt8], _ call: RedisCall) -> Bool {
    monitor.withLock {
      // If the server has ended an idle connection, the call can go over another one. At a login its reply says why.
      if failure == nil, calls.isEmpty, !isNew, socket.hasEnded {
        failure = .unreachable(url, RedisBreak("the server has closed the connection"))
        socket.end()
      }
      if let failure {
        call.outcome = .failure(.notSent(failure))
        return false
      }
      sequence = calls.isEmpty ? sequence + 1 : min(sequence, 0)
      call.position = sentBefore + outgoing.count
      calls.append(call)
      append(bytes)
      // A thread that does not wait now will send before it waits.
      if reader == .thread, !isWaiting { return false }
      flush()
      guard reader == .none else { return false }
      reader = .caller
      return true
    }
  }

  /// How many bytes to encrypt at once: OpenSSL's buffer keeps the size that it has once had.
  private static let encryptedAtOnce = 65_536

  /// Adds `bytes` to those to be sent. Called with the lock.
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

  /// Reads for a moment on the caller's own thread, until `call` has its replies. A thread does the rest.
  private func readInPlace(_ call: RedisCall) {
    let end = call.start.advanced(by: .milliseconds(Int(Self.longestWaitInPlace)))
    var isFinished = false
    repeat {
      serve(for: Self.longestWaitInPlace)
      isFinished = monitor.withLock { call.outcome != nil }
    } while !isFinished && .now < end
    let needsThread = monitor.withLock {
      if !isFinished { sequence = Self.restAfterSlowReply }
      reader = calls.isEmpty ? .none : .thread
      return reader == .thread
    }
    if needsThread { startThread() }
  }

  /// Starts the thread, which is the only reader from now on.
  private func startThread() {
    let isStarted = SystemThread.startDetached {
      while let wait = self.nextWait() { self.serve(for: wait) }
    }
    if !isStarted { fail(RedisBreak("no thread can be started")) }
  }

  /// How long the thread waits next, in milliseconds; `nil` if it ends.
  private func nextWait() -> Int32? {
    let now = ContinuousClock.now
    var isSilent = false
    let wait = monitor.withLock { () -> Int32? in
      if failure != nil { return nil }
      if let oldest = calls.first {
        isSilent = max(heard, oldest.start).advanced(by: silence) <= now
        return isSilent ? nil : Self.interval
      }
      guard onMessage != nil || sequence < Self.shortSequence && heard.advanced(by: Self.idleTime) > now else {
        reader = .none
        return nil
      }
      // The calls of a follower are small: the socket takes them at once.
      return onMessage == nil ? Self.interval : Int32(Self.idleTime / .milliseconds(1))
    }
    if isSilent { fail(.silence) }
    return wait
  }

  /// Sends what the socket takes, waits for at most `milliseconds` until it is ready, and hands out the received bytes.
  /// Only the reader calls this.
  private func serve(for milliseconds: Int32) {
    let (events, isThread) = monitor.withLock {
      let before = sentBefore + sent
      flush()
      if sentBefore + sent > before { heard = .now }
      isWaiting = reader == .thread
      return (outgoing.isEmpty ? POLLIN : POLLIN | POLLOUT, isWaiting)
    }
    let isReady = socket.isReady(for: events, within: milliseconds)
    if isThread { monitor.withLock { isWaiting = false } }
    if isReady { takeArrived() }
  }

  private func takeArrived() {
    var arrived: [RedisValue] = []
    do throws(RedisBreak) {
      let count = try socket.receive(into: room)
      let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
      if let session { try decrypt(bytes, session) } else { replies.feed(bytes) }
      while let reply = try replies.next() { arrived.append(reply) }
    } catch {
      return fail(error)
    }
    var finished: [RedisCall] = []
    var messages: [RedisValue] = []
    var isUnexpected = false
    monitor.withLock {
      heard = .now
      for reply in arrived {
        if onMessage != nil, reply.elements?.first?.text == "message" {
          messages.append(reply)
          continue
        }
        guard let oldest = calls.first else {
          isUnexpected = true
          break
        }
        oldest.replies.append(reply)
        guard oldest.replies.count == oldest.count else { continue }
        calls.removeFirst()
        if oldest.finish(.success(oldest.replies)) { finished.append(oldest) }
      }
    }
    for message in messages { onMessage?(message) }
    for call in finished { call.resume() }
    if isUnexpected { fail(RedisBreak("the server sends a reply without a call")) }
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
    let (refusal, hint) = monitor.withLock {
      isNew ? (calls.first?.replies.first?.error, hintWhileNew) : (nil, nil)
    }
    end(
      refusal.map { .refused(url, $0) }
        ?? .unreachable(url, error.reason, hint: error.hint ?? hint, cause: error))
  }

  private func end(_ error: CacheError) {
    let unfinished = monitor.withLock { () -> [RedisCall] in
      guard failure == nil else { return [] }
      failure = error
      // Wakes up the reader.
      socket.end()
      defer { calls = [] }
      return calls.filter { call in
        call.finish(.failure(call.position < sentBefore + sent ? .unanswered(error) : .notSent(error)))
      }
    }
    for call in unfinished { call.resume() }
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

  init(_ count: Int) { self.count = count }

  /// Ends the call unless it has ended, and returns whether a caller waits for it, which `resume()` then resumes.
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
