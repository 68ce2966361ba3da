internal import EngineAPI
internal import Synchronization

/// The servers of a store: a single one, the masters of a cluster, or the one that Sentinels name.
///
/// Calls for different masters share nothing, so that those for the others are not slower when one is lost.
final class RedisNodes: Sendable {
  let options: RedisOptions
  private let marks = RedisMarks()
  private let searching = RedisFlight<CacheError?>()
  private let topology: Mutex<RedisTopology>
  /// When a call was last refused, by its slot.
  private let refusals = Mutex<[Int?: ContinuousClock.Instant]>([:])

  private init(_ options: RedisOptions) {
    self.options = options
    topology = Mutex(RedisTopology(options, marks))
  }

  /// Connects to one of the servers of the URL, or asks its Sentinels, and finds the others.
  ///
  /// - Throws: `CacheError`: `unreachable` if none answers, `invalidOption` if they are not such servers as the URL says, and the
  ///   errors of `RedisConnection.open`.
  static func open(_ options: RedisOptions) async throws(CacheError) -> RedisNodes {
    let nodes = RedisNodes(options)
    do throws(CacheError) {
      if options.location.service == nil { try await nodes.recognize() }
      // Of a cluster, those that are needed are waited for.
      if !nodes.isCluster { _ = try await nodes.send([RedisCommand("PING")], slot: nil, isRead: true) }
    } catch {
      nodes.close()
      throw error
    }
    return nodes
  }

  deinit { close() }

  var isCluster: Bool { topology.withLock { $0.isCluster } }

  /// Whether there are other servers to ask for the master.
  var findsServers: Bool { options.location.service != nil || isCluster }

  /// Ends all connections; calls without a reply fail.
  func close() {
    let nodes = topology.withLock { topology in
      topology.isClosed = true
      return topology.nodes.values
    }
    for node in nodes { node.close() }
  }

  // MARK: Calls

  /// Sends `commands` together to the master that has `slot`, or to the only one if `slot` is `nil`.
  ///
  /// Until `RedisOptions.timeout` has passed it follows a slot that is migrated, and waits for a server that is starting, a cluster
  /// that is changing, and the server that replaces a lost one.
  ///
  /// - Parameters:
  ///   - slot: the slot of all keys in the commands.
  ///   - isRead: whether the commands change nothing, so that they can always be sent again.
  /// - Returns: the replies in order. They can be errors of other kinds.
  /// - Throws: `CacheError`: `unreachable`, and its message says so if a change may have been made; `busy`; `cancelled`; and the
  ///   errors of `RedisConnection.open`.
  func send(_ commands: [RedisCommand], slot: Int?, isRead: Bool) async throws(CacheError) -> [RedisValue] {
    var request = RedisRequest(commands, slot: slot, isRead: isRead, self)
    return try await request.run()
  }

  /// Sends `commands`, which can be sent again, to the server at `address`.
  func send(_ commands: [RedisCommand], to address: RedisAddress) async throws(CacheError) -> [RedisValue] {
    try await node(at: address).ask(commands)
  }

  /// The reply of each master to `command`, which changes nothing.
  ///
  /// - Throws: `CacheError`: `unreachable` if one cannot be reached, which the message names, or if a slot has no master; what
  ///   a master answers if that is an error.
  func askMasters(_ command: RedisCommand) async throws(CacheError) -> [(address: RedisAddress, reply: RedisValue)] {
    if findsServers { try await findMasters() }
    var replies: [(RedisAddress, RedisValue)] = []
    for slot in topology.withLock({ $0.firstSlots }) {
      // A call for a slot waits for the successor of a master that is lost.
      let reply = try await send([command], slot: slot, isRead: true)[0]
      if let error = reply.error { throw CacheError(error, store: options.description) }
      if let master = master(of: slot) { replies.append((master.address, reply)) }
    }
    return replies
  }

  // MARK: Refusals

  /// Records that a call for `slot` has waited in vain for servers that take no calls, such as those of a cluster that has
  /// lost a master.
  func noteRefusal(of slot: Int?) { refusals.withLock { $0[slot] = .now } }

  /// Whether a call was refused there within the last `timeout`: the next one does not wait.
  func isRefused(_ slot: Int?) -> Bool {
    refusals.withLock { refusals in
      guard let last = refusals[slot], last.duration(to: .now) < options.timeout else { return false }
      refusals[slot] = .now
      return true
    }
  }

  // MARK: Changes of others

  /// The mark of `key`; `nil` while its master is not followed, which begins now.
  func changeMark(of key: CacheKey, _ names: RedisNames) -> ChangeMark? {
    let slot = names.isCluster ? names.slot(of: names.name(of: key)) : nil
    return master(of: slot)?.changeMark(of: key, names)
  }

  /// Records that a master has sent a call to the node to which the slot is being migrated. That node tells the changes of
  /// the entry now, and the master does not: no mark of before holds for what the call finds there.
  func noteImport() { marks.raiseAll() }

  // MARK: The topology

  /// The master of `slot`, or one of all if `slot` is `nil`; `nil` if it is unknown.
  func master(of slot: Int?) -> RedisNode? { topology.withLock { $0.master(of: slot) } }

  /// The server at `address`.
  func node(at address: RedisAddress) -> RedisNode { topology.withLock { $0.node(at: address) } }

  /// Records that a server has named `address` as that of the master of `slot`.
  func move(_ slot: Int, to address: RedisAddress) { topology.withLock { $0.move(slot, to: address) } }

  /// Finds out what kind of server is at the addresses of the URL, and the masters of a cluster.
  private func recognize() async throws(CacheError) {
    let addresses = options.location.addresses
    let (address, role) = try await firstAnswer(of: addresses) { [self] address throws(CacheError) in
      try await node(at: address).connection().role
    }
    guard role.mode == .cluster else {
      if addresses.count > 1 {
        throw .badURL(
          "several addresses are those of a cluster, and \(address) belongs to none",
          hint: "give one address, or those of Sentinels as redis-sentinel://host:port,host:port#service")
      }
      return topology.withLock { $0.learn(master: address) }
    }
    if address.isSocket {
      throw .badURL("\(address) is a node of a cluster", hint: "give addresses of the cluster's nodes")
    }
    topology.withLock { $0.isCluster = true }
    try await findMasters()
  }

  /// Asks the nodes of the cluster or the Sentinels for the masters. Calls that ask at the same time share an answer.
  ///
  /// - Throws: `CacheError` if none answers.
  func findMasters() async throws(CacheError) {
    guard let result = await searching.output({ [self] in await search() }) else { throw .cancelled }
    if let result { throw result }
  }

  private func search() async -> CacheError? {
    let (isCluster, informants) = topology.withLock { topology in
      // Those that answer soonest come first.
      let nodes = topology.nodes
      let ranks = topology.informants.map { nodes[$0]?.current != nil ? 0 : nodes[$0]?.isDown == true ? 2 : 1 }
      let order = ranks.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
      return (topology.isCluster, order.map { topology.informants[$0] })
    }
    do throws(CacheError) {
      if isCluster {
        let (_, ranges) = try await firstAnswer(of: informants) { [self] address throws(CacheError) in
          try await slotRanges(from: node(at: address))
        }
        topology.withLock { $0.learn(ranges) }
      } else {
        let (_, address) = try await firstAnswer(of: informants) { [self] address throws(CacheError) in
          try await master(by: address)
        }
        topology.withLock { $0.learn(master: address) }
      }
      return nil
    } catch {
      return error
    }
  }

  /// Which nodes have which slots according to `node`.
  private func slotRanges(from node: RedisNode) async throws(CacheError) -> [RedisSlotRange] {
    let reply = try await node.ask([RedisCommand("CLUSTER", "SLOTS")])[0]
    if let error = reply.error { throw CacheError(error, store: options.location.url(of: node.address)) }
    let ranges = (reply.elements ?? []).compactMap { RedisSlotRange($0, from: node.address) }
    guard ranges.isEmpty else { return ranges }
    throw CacheError(.busy, "\(options): the node \(node.address) knows of no slots", hint: "see the cluster's nodes")
  }

  /// The master according to the Sentinel at `address`.
  private func master(by address: RedisAddress) async throws(CacheError) -> RedisAddress {
    let service = options.location.service ?? ""
    let url = options.location.url(of: address)
    let connection = try await RedisConnection.open(address, options)
    defer { connection.close() }
    guard connection.role.mode == .sentinel else {
      throw .badURL(
        "\(address) is no Sentinel",
        hint: "name the port of a Sentinel, which usually is 26379, or write \(url) for this server alone")
    }
    let reply: RedisValue
    do throws(RedisDisconnection) {
      reply = try await connection.send([RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)])[0]
    } catch {
      throw error.error
    }
    if let error = reply.error { throw CacheError(error, store: url) }
    guard let words = reply.elements, words.count == 2, let host = words[0].text, !host.isEmpty,
      let port = words[1].number, (1...65_535).contains(port)
    else {
      throw .badURL(
        "the Sentinel at \(address) knows no master called '\(service)'", hint: "name one as its configuration does")
    }
    return RedisAddress(host: host, port: Int32(port))
  }

  /// How long a server may take to answer before the next one is asked too.
  private static let headStart = Duration.milliseconds(200)

  /// The first answer of one of the servers at `addresses`, which are asked in this order: each as soon as the one before has
  /// failed or takes long.
  private func firstAnswer<Answer: Sendable>(
    of addresses: [RedisAddress], _ ask: @escaping @Sendable (RedisAddress) async throws(CacheError) -> Answer
  ) async throws(CacheError) -> (RedisAddress, Answer) {
    let result = await withTaskGroup(of: (RedisAddress, Result<Answer, CacheError>)?.self) { group in
      var upcoming = addresses[...]
      var running = 0
      var failure: CacheError?
      while running > 0 || !upcoming.isEmpty {
        if let address = upcoming.popFirst() {
          running += 1
          group.addTask {
            do throws(CacheError) { return (address, .success(try await ask(address))) } catch {
              return (address, .failure(error))
            }
          }
          group.addTask {
            try? await Task.sleep(for: Self.headStart)
            return nil
          }
        }
        guard case (let address, let answer)?? = await group.next() else { continue }
        running -= 1
        switch answer {
        case .success(let answer):
          group.cancelAll()
          return Result<(RedisAddress, Answer), CacheError>.success((address, answer))
        case .failure(let error):
          // That a server refuses says more than that another one is away.
          if failure == nil || failure?.code == .unreachable { failure = error }
        }
      }
      group.cancelAll()
      return .failure(failure ?? .unreachable(options.description, "no server answers"))
    }
    return try result.get()
  }
}
