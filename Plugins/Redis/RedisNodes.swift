internal import EngineAPI
internal import Synchronization

/// The servers of a store: a single one, the masters of a cluster, or the one that Sentinels name.
///
/// Calls for different masters share nothing, so that those for the others are not slower when one is lost.
final class RedisNodes: Sendable {
  /// Which servers there are, and which of them has what.
  private struct State {
    /// Who says which servers are the masters: the nodes of the cluster, or Sentinels. The one that responded last
    /// comes first.
    var informants: [RedisAddress]
    /// The servers to which there might be connections.
    var nodes: [RedisAddress: RedisNode] = [:]
    /// The master of each slot of a cluster, `nil` for one without a master; else a single one.
    var masters: [RedisNode?]
    /// When a call for a slot was last refused after it had waited.
    var refusals: [Int?: ContinuousClock.Instant] = [:]
    var isClosed = false
  }

  let options: RedisOptions
  let isCluster: Bool
  private let marks = RedisMarks()
  private let searching = RedisFlight<CacheError?>()
  private let state: Mutex<State>

  private init(_ options: RedisOptions, isCluster: Bool) {
    self.options = options
    self.isCluster = isCluster
    let masters = [RedisNode?](repeating: nil, count: isCluster ? RedisNames.slots : 1)
    state = Mutex(State(informants: options.location.addresses, masters: masters))
  }

  /// Connects to one of the servers of the URL, or asks its Sentinels, and finds the others.
  ///
  /// - Throws: `CacheError`: `unreachable` if none replies, `invalidOption` if they are not such servers as the URL says, and the
  ///   errors of `RedisConnection.open`.
  static func open(_ options: RedisOptions) async throws(CacheError) -> RedisNodes {
    var first: RedisConnection?
    if options.location.service == nil { first = try await recognize(options) }
    let nodes = RedisNodes(options, isCluster: first?.role.mode == .cluster)
    if let first { nodes.use(first) }
    do throws(CacheError) {
      if nodes.isCluster {
        try await nodes.findMasters()
      } else {
        // Of a cluster, those that are needed are waited for.
        _ = try await nodes.send([RedisCommand("PING")], slot: nil, isRead: true)
      }
    } catch {
      nodes.close()
      throw error
    }
    return nodes
  }

  deinit { close() }

  /// Whether there are other servers to ask for the master.
  private var findsServers: Bool { isCluster || options.location.service != nil }

  /// Ends all connections; calls without a reply fail.
  func close() {
    let nodes = state.withLock { state in
      state.isClosed = true
      return state.nodes.values
    }
    for node in nodes { node.close() }
  }

  /// The master of `slot`, or the only one if `slot` is `nil`; `nil` if it is unknown.
  func master(of slot: Int?) -> RedisNode? { state.withLock { $0.masters[slot ?? 0] } }

  /// The server at `address`.
  func node(at address: RedisAddress) -> RedisNode { state.withLock { node(at: address, &$0) } }

  private func node(at address: RedisAddress, _ state: inout State, _ connection: RedisConnection? = nil) -> RedisNode {
    if let node = state.nodes[address] { return node }
    let node = RedisNode(address, options, marks, isReplaceable: findsServers, connection)
    if state.isClosed { node.close() } else { state.nodes[address] = node }
    return node
  }

  /// Uses `connection` for calls; for all calls if the server is not a cluster.
  private func use(_ connection: RedisConnection) {
    state.withLock { state in
      let node = node(at: connection.address, &state, connection)
      if !isCluster { state.masters = [node] }
    }
  }

  /// All masters as they are now.
  ///
  /// - Throws: `CacheError` if none of the addresses names them.
  func masters() async throws(CacheError) -> [RedisNode] {
    if findsServers { try await findMasters() }
    var seen: Set<RedisAddress> = []
    return state.withLock { $0.masters }.compactMap { $0 }.filter { seen.insert($0.address).inserted }
  }

  /// The mark of `key`; `nil` while its master is not followed, which begins now.
  func changeMark(of key: CacheKey, _ names: RedisNames) -> ChangeMark? {
    master(of: names.slot(of: names.name(of: key)))?.changeMark(of: key, names)
  }
}

/// Calls.
extension RedisNodes {
  /// Why replies are not those of the slot's master, and so what to do before the commands are sent again.
  private enum Obstacle {
    /// Another node has the slot, or what the commands are about.
    case elsewhere
    /// The slot is being migrated.
    case moving
    /// The server has no connection, or is not the master.
    case away
    /// The server takes no calls at the moment.
    case refused
  }

  /// Sends `commands` together to the master that has `slot`, or to the only one if `slot` is `nil`.
  ///
  /// Until `RedisOptions.timeout` has passed it follows a slot that is migrated, and waits for a server that is starting, a cluster
  /// that is changing, and the server that replaces a lost one. Then all commands are sent again: reads always, changes only if none
  /// of them was executed, or if they are removals.
  ///
  /// - Parameters:
  ///   - slot: the slot of all keys in the commands. On a cluster only one of several commands can have keys, because
  ///     those of a slot that is migrated are on two nodes.
  ///   - isRead: whether the commands change nothing.
  /// - Returns: the replies in order. They can be errors of other kinds.
  /// - Throws: `CacheError`: `unreachable`, and its message says so if a change might have been made; `busy`;
  ///   `cancelled`; and the errors of `RedisConnection.open`.
  func send(_ commands: [RedisCommand], slot: Int?, isRead: Bool) async throws(CacheError) -> [RedisValue] {
    let deadline = ContinuousClock.now.advanced(by: options.timeout)
    // Calls that begin while the loss of the master is known do not wait for its successor.
    let waitsForSuccessor = master(of: slot)?.isDown != true
    var (importer, hasMoved, pause) = (RedisAddress?.none, false, Duration.milliseconds(2))
    var trouble: CacheError?
    while true {
      let node = importer.map { self.node(at: $0) } ?? master(of: slot)
      let isAsking = importer != nil
      importer = nil
      var obstacle = Obstacle.away
      do throws(RedisDisconnection) {
        guard let node else { throw .notSent(.unreachable(options.description, "no node has this part of the store")) }
        var replies = try await node.send(isAsking ? commands.flatMap { [RedisCommand("ASKING"), $0] } : commands)
        if isAsking { replies = stride(from: 1, to: replies.count, by: 2).map { replies[$0] } }
        // Nearly all calls end here.
        guard let (error, found) = firstObstacle(in: replies) else { return replies }
        obstacle = found
        trouble = CacheError(error, store: options.location.url(of: node.address))
        switch (found, error.target(from: node.address)) {
        case (.elsewhere, let target?) where error.word == "ASK":
          // The importer reports the changes of the entry now, and the master does not: no earlier mark holds for the
          // entry found there.
          marks.raiseAll()
          importer = target
        case (.elsewhere, let target?):
          if let slot { move(slot, to: target) }
          // Two nodes that name each other are about to agree.
          if hasMoved { obstacle = .moving }
          hasMoved = true
        case (.elsewhere, nil): obstacle = .moving
        default: break
        }
      } catch {
        trouble = try reason(to: error, isRead: isRead, isFirst: trouble == nil)
      }
      let reason = trouble ?? .unreachable(options.description, "there is no reply")
      let isLate = ContinuousClock.now >= deadline
      if obstacle == .refused, failsAtOnce(slot, hasWaited: isLate) { throw reason }
      if isLate {
        // Later calls do not wait all this time again.
        if reason.code == .unreachable, findsServers { node?.markDown() }
        throw reason
      }
      if obstacle == .elsewhere { continue }
      do { try await Task.sleep(for: pause) } catch { throw .cancelled }
      pause = min(pause * 2, .milliseconds(100))
      guard obstacle != .moving, findsServers else { continue }
      try await findMasters()
      if !waitsForSuccessor, let node, node.isDown, node === master(of: slot) { throw reason }
    }
  }

  /// The first error that is about the server and not about a command.
  private func firstObstacle(in replies: [RedisValue]) -> (RedisServerError, Obstacle)? {
    for error in replies.lazy.compactMap(\.error) {
      switch error.word {
      case "MOVED" where isCluster, "ASK" where isCluster: return (error, .elsewhere)
      case "TRYAGAIN": return (error, .moving)
      case "READONLY" where findsServers: return (error, .away)
      case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN": return (error, .refused)
      default: break
      }
    }
    return nil
  }

  /// The error of a call that has no replies.
  ///
  /// - Throws: the same if it cannot be sent again, or that would not help.
  private func reason(
    to disconnection: RedisDisconnection, isRead: Bool, isFirst: Bool
  ) throws(CacheError) -> CacheError {
    let error = disconnection.error
    switch disconnection {
    case .unanswered where !isRead: throw error.notingThatItMayBeDone
    // A server that ends the connection before it replies will do so again, unless another one takes its place.
    case .unanswered: if error.code == .unreachable, findsServers || isFirst { return error }
    // Nothing but the server has what it has: without it there is nothing to wait for.
    case .notSent: if error.code == .busy || (error.code == .unreachable && findsServers) { return error }
    }
    throw error
  }

  /// Whether a call for `slot` that was refused does not wait, because it has waited, or another one has within the last
  /// `timeout`. So a cluster that is down costs this wait only once.
  func failsAtOnce(_ slot: Int?, hasWaited: Bool) -> Bool {
    state.withLock { state in
      let isRecent = state.refusals[slot].map { $0.duration(to: .now) < options.timeout } ?? false
      if hasWaited || isRecent { state.refusals[slot] = .now }
      return hasWaited || isRecent
    }
  }
}

/// The servers and their slots.
extension RedisNodes {
  /// Connects to one of the servers of the URL, to see of what kind they are.
  private static func recognize(_ options: RedisOptions) async throws(CacheError) -> RedisConnection {
    var addresses = options.location.addresses
    let connection = try await firstAnswer(of: &addresses, options) { address throws(CacheError) in
      try await RedisConnection.open(server: address, options)
    }
    let (isCluster, address) = (connection.role.mode == .cluster, connection.address)
    if isCluster ? !address.isSocket : addresses.count == 1 { return connection }
    connection.close()
    throw isCluster
      ? .badURL("\(address) is a node of a cluster", hint: "give addresses of the cluster's nodes")
      : .badURL(
        "several addresses are those of a cluster, and \(address) belongs to none",
        hint: "give one address, or those of Sentinels as redis-sentinel://host:port,host:port#service")
  }

  /// Asks the nodes of the cluster or the Sentinels for the masters. Calls that ask at the same time share an answer.
  ///
  /// - Throws: `CacheError` if none responds.
  func findMasters() async throws(CacheError) {
    guard let result = await searching.output({ [self] in await search() }) else { throw .cancelled }
    if let result { throw result }
  }

  private func search() async -> CacheError? {
    var informants = state.withLock { $0.informants }
    do throws(CacheError) {
      if isCluster {
        let ranges = try await Self.firstAnswer(of: &informants, options) { [self] address throws(CacheError) in
          try await slotRanges(from: node(at: address))
        }
        learn(ranges, informants)
      } else {
        let address = try await Self.firstAnswer(of: &informants, options) { [self] address throws(CacheError) in
          try await master(by: address)
        }
        state.withLock { state in
          state.informants = informants
          if state.masters[0]?.address == address { return }
          let node = node(at: address, &state)
          state.masters = [node]
          state.nodes = [address: node]
        }
      }
      return nil
    } catch {
      return error
    }
  }

  /// Tries the servers at `addresses` one after another, and returns the first answer. Those that have failed come last
  /// then, so that a silent one delays only one search.
  private static func firstAnswer<Answer>(
    of addresses: inout [RedisAddress], _ options: RedisOptions,
    _ ask: (RedisAddress) async throws(CacheError) -> Answer
  ) async throws(CacheError) -> Answer {
    var failure: CacheError?
    for _ in addresses {
      do throws(CacheError) { return try await ask(addresses[0]) } catch {
        if error.code == .cancelled { throw error }
        // That a server refuses says more than that another one is away.
        if failure == nil || failure?.code == .unreachable { failure = error }
        addresses.append(addresses.removeFirst())
      }
    }
    throw failure ?? .unreachable(options.description, "no server responds")
  }

  /// Which nodes have which slots according to `node`.
  private func slotRanges(from node: RedisNode) async throws(CacheError) -> [RedisSlotRange] {
    let reply = try await node.ask(RedisCommand("CLUSTER", "SLOTS"))
    let ranges = (reply.elements ?? []).compactMap { RedisSlotRange($0, from: node.address) }
    guard ranges.isEmpty else { return ranges }
    throw CacheError(.busy, "\(options): the node \(node.address) knows of no slots", hint: "see the cluster's nodes")
  }

  /// Records which master has which slots, and whom to ask the next time.
  private func learn(_ ranges: [RedisSlotRange], _ informants: [RedisAddress]) {
    let known = Set(options.location.addresses + ranges.flatMap(\.nodes))
    let masters = Set(ranges.compactMap(\.nodes.first))
    state.withLock { state in
      state.informants = informants.filter(known.contains) + known.subtracting(informants)
      state.masters = Array(repeating: nil, count: RedisNames.slots)
      for range in ranges {
        guard let address = range.nodes.first else { continue }
        let node = node(at: address, &state)
        for slot in range.slots.clamped(to: 0...RedisNames.slots - 1) { state.masters[slot] = node }
      }
      state.nodes = state.nodes.filter { known.contains($0.key) }
      for (address, node) in state.nodes where !masters.contains(address) { node.stopFollowing() }
    }
  }

  /// Records that a server has named `address` as that of the master of `slot`.
  private func move(_ slot: Int, to address: RedisAddress) {
    state.withLock { state in
      state.masters[slot] = node(at: address, &state)
      if !state.informants.contains(address) { state.informants.append(address) }
    }
  }

  /// The master according to the Sentinel at `address`.
  private func master(by address: RedisAddress) async throws(CacheError) -> RedisAddress {
    let service = options.location.service ?? ""
    let url = options.location.url(of: address)
    let connection = try await RedisConnection.open(address, options)
    defer { connection.close() }
    guard connection.role.mode == .sentinel else {
      throw .badURL(
        "\(address) is not a Sentinel",
        hint: "name the port of a Sentinel, which usually is 26379, or write \(url) for this server alone")
    }
    let reply = try await connection.ask([RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)])[0]
    if let error = reply.error { throw CacheError(error, store: url) }
    guard let words = reply.elements, words.count == 2, let host = words[0].text, !host.isEmpty,
      let port = words[1].number, (1...65_535).contains(port)
    else {
      throw .badURL(
        "the Sentinel at \(address) knows no master called '\(service)'", hint: "name one as its configuration does")
    }
    return RedisAddress(host: host, port: Int32(port))
  }
}
