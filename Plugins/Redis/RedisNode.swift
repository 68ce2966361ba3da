internal import EngineAPI
internal import Synchronization

/// One server: the connection that all calls share, and whether it is down.
///
/// A server that has been silent is down: calls fail at once, and a background task tries it until it replies. Every
/// call tries a server that refuses connections, and so finds it as soon as it is back. But if another server can take
/// its place, calls wait for that. So it is down too once a call has waited in vain.
final class RedisNode: Sendable {
  private struct State {
    var connection: RedisConnection?
    /// Asks the server that is down.
    var watch: Task<Void, Never>?
    var isClosed = false
  }

  let address: RedisAddress
  private let follower: RedisFollower
  private let options: RedisOptions
  /// Whether another server can take the place of this one.
  private let isReplaceable: Bool
  private let opening = RedisFlight<Result<RedisConnection, CacheError>>()
  private let state: Mutex<State>

  /// - Parameter connection: a connection that was opened before, or `nil`.
  init(
    _ address: RedisAddress, _ options: RedisOptions, _ marks: RedisMarks, isReplaceable: Bool,
    _ connection: RedisConnection? = nil
  ) {
    self.address = address
    follower = RedisFollower(address, options, marks)
    self.options = options
    self.isReplaceable = isReplaceable
    state = Mutex(State(connection: connection))
  }

  deinit { close() }

  /// Whether calls fail without asking the server.
  var isDown: Bool { state.withLock { $0.watch != nil } }

  /// Sends `commands` together and returns the replies in order. A connection that broke while it was idle is replaced.
  func send(_ commands: [RedisCommand]) async throws(RedisDisconnection) -> [RedisValue] {
    if let connection = state.withLock({ $0.connection }) {
      do throws(RedisDisconnection) {
        return try await send(commands, over: connection)
      } catch {
        guard case .notSent = error else { throw error }
      }
    }
    let connection: RedisConnection
    do throws(CacheError) { connection = try await self.connection() } catch { throw .notSent(error) }
    return try await send(commands, over: connection)
  }

  private func send(
    _ commands: [RedisCommand], over connection: RedisConnection
  ) async throws(RedisDisconnection) -> [RedisValue] {
    do throws(RedisDisconnection) {
      return try await connection.send(commands)
    } catch {
      if !connection.isOpen {
        state.withLock { if $0.connection === connection { $0.connection = nil } }
        if error.error.isOfSilence { markDown() }
      }
      throw error
    }
  }

  /// The reply to `command`, which changes nothing, unless it is an error.
  func ask(_ command: RedisCommand) async throws(CacheError) -> RedisValue {
    let reply: RedisValue
    do throws(RedisDisconnection) { reply = try await send([command])[0] } catch { throw error.error }
    if let error = reply.error { throw CacheError(error, store: options.location.url(of: address)) }
    return reply
  }

  /// The connection, which is opened if there is none.
  func connection() async throws(CacheError) -> RedisConnection {
    if isDown {
      throw .unreachable(options.description, "\(address) does not respond; cachectl tries it again in the background")
    }
    guard let result = await opening.output({ [self] in await open() }) else { throw .cancelled }
    return try result.get()
  }

  /// The connection, also of a server that is down. Only one call at a time opens one, so that none that is in use is replaced.
  private func open() async -> Result<RedisConnection, CacheError> {
    if let connection = state.withLock({ $0.connection }) { return .success(connection) }
    do throws(CacheError) {
      let connection = try await RedisConnection.open(server: address, options)
      let isClosed = state.withLock { state in
        if !state.isClosed { state = State(connection: connection) }
        return state.isClosed
      }
      if !isClosed { return .success(connection) }
      connection.close()
      return .failure(.storeClosed)
    } catch {
      if error.isOfSilence { markDown() }
      return .failure(error)
    }
  }

  /// Lets calls fail at once from now on, and asks the server in the background until it replies.
  func markDown() {
    state.withLock { state in
      guard !state.isClosed, state.watch == nil else { return }
      state.connection = nil
      state.watch = Task { [weak self] in
        var pauses = RedisPauses()
        while (try? await Task.sleep(for: pauses.next())) != nil, await self?.isStillDown() == true {}
      }
    }
  }

  private func isStillDown() async -> Bool {
    guard case .failure(let error)? = await opening.output({ [self] in await open() }) else { return false }
    if error.isOfSilence || (isReplaceable && error.code == .unreachable) { return true }
    state.withLock { $0.watch = nil }
    return false
  }

  /// The mark of `key`; `nil` while the server is not followed, which begins now.
  func changeMark(of key: CacheKey, _ names: RedisNames) -> ChangeMark? {
    if let mark = follower.mark(of: key) { return mark }
    follower.start(names) { [weak self] in await self?.isMaster() ?? false }
    return nil
  }

  /// Has the server followed no more, until there is another question for a mark.
  func stopFollowing() { follower.stop() }

  /// Whether the server has the store at the moment.
  private func isMaster() async -> Bool {
    guard isReplaceable else { return true }
    return (try? await ask(RedisCommand("HELLO"))).flatMap(RedisConnection.Role.init)?.isMaster == true
  }

  /// Ends the connection for good.
  func close() {
    let old = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state
    }
    old.watch?.cancel()
    old.connection?.close()
    follower.stop(isFinal: true)
  }
}

extension RedisConnection {
  /// Connects to the server at `address`, which must be a server, and the master if Sentinels have named it.
  static func open(server address: RedisAddress, _ options: RedisOptions) async throws(CacheError) -> RedisConnection {
    let connection = try await open(address, options)
    if connection.role.mode == .sentinel {
      let scheme = options.encryption == nil ? "redis-sentinel" : "rediss-sentinel"
      let services = try? await connection.ask([RedisCommand("ROLE")])[0].elements?.last?.elements
      connection.close()
      throw .badURL(
        "\(address) is a Sentinel", hint: "write it like \(scheme)://\(address)#\(services?.first?.text ?? "mymaster")")
    }
    if options.location.service != nil, !connection.role.isMaster {
      connection.close()
      throw CacheError(
        .busy, "\(options): the Sentinels name \(address) as the master, but it is a replica",
        hint: "try again later, or raise the option timeout")
    }
    return connection
  }
}

/// The pauses between attempts to reach a server in the background: they grow from 0.1 to 5 seconds.
struct RedisPauses {
  private var upcoming = Duration.milliseconds(100)

  mutating func next() -> Duration {
    defer { upcoming = min(upcoming * 2, .seconds(5)) }
    return upcoming
  }
}

/// Work that is under way at most once, for any number of callers that wait for it.
final class RedisFlight<Output: Sendable>: Sendable {
  private let task = Mutex<Task<Output, Never>?>(nil)

  /// The result of `work`, or of the work that is under way; `nil` as soon as the caller is cancelled, which does not
  /// end the work.
  func output(_ work: @escaping @Sendable () async -> Output) async -> Output? {
    let running = task.withLock { task in
      if let task { return task }
      let new = Task {
        let output = await work()
        self.task.withLock { $0 = nil }
        return output
      }
      task = new
      return new
    }
    let (outputs, continuation) = AsyncStream.makeStream(of: Output.self)
    Task {
      continuation.yield(await running.value)
      continuation.finish()
    }
    for await output in outputs { return output }
    return nil
  }
}
