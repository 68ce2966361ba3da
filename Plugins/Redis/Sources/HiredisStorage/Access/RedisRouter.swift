internal import Platform
internal import StorageSPI

/// Gets answers to requests. It sends each to the server that has its part of the store, all requests for one server
/// together, and retries until the time is up if a server is gone or a part has moved.
///
/// It blocks the calling thread, which is one of the engine's own.
struct RedisRouter: Sendable {
  let options: RedisOptions
  let pool: RedisPool
  let topology: RedisTopology
  /// The patience of the current call; `nil` if nothing can cancel it.
  var patience: RedisPatience?
  /// What the current call has tried before, in vain.
  var attempt: RedisAttempt?

  init(_ options: RedisOptions) {
    self.options = options
    topology = RedisTopology(options)
    pool = RedisPool(options, topology)
  }

  /// The replies to `requests`, in their order, none of them an error.
  ///
  /// - Throws: `CacheError`: `unreachable`, `busy`, `permissionDenied`, `cancelled` if the caller is cancelled and no
  ///   answer comes, or the equivalent of the first error that a server returns.
  func perform(_ requests: [RedisRequest]) throws(CacheError) -> [RedisReply] {
    var mayComeLate = false
    return try perform(requests, &mayComeLate)
  }

  /// The same.
  ///
  /// - Parameter mayComeLate: set if a change was sent more than once: a server may yet get a copy of it.
  func perform(_ requests: [RedisRequest], _ mayComeLate: inout Bool) throws(CacheError) -> [RedisReply] {
    var call = RedisCall(
      requests, deadline: (attempt?.start ?? .now).advanced(by: options.timeout),
      mayBeDone: attempt != nil && requests.contains(where: \.isChange))
    var pause = Duration.milliseconds(2)
    // A call that finds the master silent waits for the Sentinels to name another; those that come later do not.
    let mayWait =
      options.location.service != nil
      && (attempt?.wasSilent == true || !call.isStuck(topology) { pool.isSilent($0) })
    while true {
      if patience?.isOver == true { throw .abandoned.noting(mayBeDone: call.mayBeDone) }
      makeRound(&call)
      if let failure = call.failure { throw failure.noting(mayBeDone: call.mayBeDone) }
      if let replies = call.allReplies {
        if call.mayBeDone { mayComeLate = true }
        return replies
      }
      try prepareNextRound(&call, &pause, mayWait: mayWait)
    }
  }

  /// The reply to one request.
  func perform(_ request: RedisRequest) throws(CacheError) -> RedisValue {
    let replies = try perform([request])
    guard let reply = replies.first else { throw undecodable("an answer is missing") }
    return reply.value
  }

  /// The replies to requests that are each about several of `parts`, or of all parts: what one server has. A request without
  /// an answer is sent again, because its parts may have moved, so it must be safe to repeat.
  ///
  /// - Parameter request: makes the request about some parts.
  /// - Returns: the parts of each request, and the reply.
  func performOnNodes(
    _ parts: [Int]? = nil, _ request: (RedisPartGroup) -> RedisRequest
  ) throws(CacheError) -> [(parts: [Int], reply: RedisReply)] {
    let deadline = ContinuousClock.now.advanced(by: options.timeout)
    var groups = parts.map { topology.groups($0) } ?? topology.groups
    var pause = Duration.milliseconds(2)
    var answers: [(parts: [Int], reply: RedisReply)] = []
    while true {
      if patience?.isOver == true { throw .abandoned }
      var call = RedisCall(groups.map(request), deadline: deadline)
      makeRound(&call)
      if let failure = call.failure { throw failure }
      var open: [Int] = []
      for (group, reply) in zip(groups, call.replies) {
        if let reply { answers.append((group.parts, reply)) } else { open += group.parts }
      }
      if open.isEmpty { return answers }
      try prepareNextRound(&call, &pause, mayWait: false)
      groups = topology.groups(open)
    }
  }

  /// The replies of the servers that can be asked now, in the order of `requests`; `nil` for the others. It does not
  /// retry.
  ///
  /// - Throws: `CacheError` if no server answers, or one refuses.
  func ask(_ requests: [RedisRequest]) throws(CacheError) -> [RedisReply?] {
    var call = RedisCall(requests, deadline: .now.advanced(by: options.timeout))
    if options.findsServers, requests.contains(where: { topology.owner(of: $0.part) == nil }) {
      try findOwners(call, .busy("no answer"))
    }
    makeRound(&call)
    // A server that names another one has answered.
    if call.failure == nil, case .busy = call.trouble { makeRound(&call) }
    if let failure = call.failure { throw failure }
    // If nothing else answers, wait for temporary problems to pass, such as a server that is starting.
    return call.replies.contains { $0 != nil } ? call.replies : try perform(requests)
  }

  /// Opens a connection to the server of the store's only part, for the caller alone. With Sentinels it asks them first.
  /// It does not retry.
  ///
  /// - Throws: `CacheError`, as `perform` does.
  func connect() throws(CacheError) -> RedisConnection {
    if options.findsServers {
      try findOwners(RedisCall([], deadline: .now.advanced(by: options.timeout)), .busy("no answer"))
    }
    guard let address = topology.owner(of: 0) else { throw undecodable("no server has the store") }
    do throws(RedisOpeningError) {
      return try RedisConnection.open(address, options, patience)
    } catch {
      switch error {
      case .refused(let error): throw error
      case .trouble(let trouble): throw CacheError(trouble, store: options.description, mayBeDone: false)
      }
    }
  }

  /// The error for a reply that no script or command of this engine gives.
  func undecodable(_ what: String) -> CacheError { .undecodable(what, store: options.description) }

  /// Sends each server the pending requests for its parts. It asks all servers before it waits for the first answer.
  func makeRound(_ call: inout RedisCall) {
    call.beginRound()
    var sent: [RedisExchange] = []
    for (address, pending) in call.takePending(topology) {
      guard let exchange = makeExchange(address, pending, &call) else { continue }
      do throws(RedisDisconnection) {
        try exchange.send(call)
        sent.append(exchange)
      } catch {
        lose(exchange, error, &call)
      }
    }
    for exchange in sent { receive(exchange, &call) }
  }

  private func makeExchange(
    _ address: RedisAddress, _ pending: [(index: Int, isAsking: Bool)], _ call: inout RedisCall
  ) -> RedisExchange? {
    let isChange = pending.contains { call.requests[$0.index].isChange }
    do throws(RedisOpeningError) {
      let (connection, wasIdle) = try pool.take(address, patience)
      return RedisExchange(
        connection: connection, wasIdle: wasIdle, indices: pending.map(\.index), isAsking: pending.map(\.isAsking),
        minimumReplicas: isChange && options.durability == .full ? options.minimumReplicas : nil)
    } catch {
      switch error {
      case .refused(let error): call.fail(error)
      case .trouble(let trouble): note(trouble, &call)
      }
      return nil
    }
  }

  /// Records that no connection is available.
  private func note(_ trouble: RedisTrouble, _ call: inout RedisCall) {
    // No other server has what this one has: without a connection there is nothing to wait for.
    switch trouble {
    case .unreachable where !options.findsServers, .silent where !options.findsServers:
      call.fail(CacheError(trouble, store: options.description, mayBeDone: false))
    default: break
    }
    call.note(trouble, needsMap: true, needsPause: true)
  }

  private func lose(_ exchange: RedisExchange, _ error: RedisDisconnection, _ call: inout RedisCall) {
    let address = exchange.connection.address
    call.noteLoss(of: exchange.indices)
    switch error.openingError(at: address) {
    // That the caller gave up says nothing about the server.
    case .refused(let error): return call.fail(error)
    case .trouble(let trouble):
      pool.removeIdle(address)
      if case .silent = trouble { pool.noteSilence(address) }
      // An idle connection may have broken while the master stayed what it is.
      call.note(
        trouble, needsMap: options.kind == .cluster || !exchange.wasIdle, needsPause: !exchange.wasIdle)
    }
  }

  private func receive(_ exchange: RedisExchange, _ call: inout RedisCall) {
    do throws(RedisDisconnection) {
      let (replies, isConfirmed) = try exchange.receive(until: call.deadline)
      pool.give(exchange.connection)
      for (index, reply) in zip(exchange.indices, replies) {
        settle(index, reply, isConfirmed: isConfirmed, exchange.connection.address, &call)
      }
    } catch {
      lose(exchange, error, &call)
    }
  }

  private func settle(
    _ index: Int, _ reply: RedisReply, isConfirmed: Bool, _ address: RedisAddress, _ call: inout RedisCall
  ) {
    if let error = reply.value.error {
      settle(index, error, address, &call)
    } else if isConfirmed || !call.requests[index].isChange {
      call.answer(index, reply)
    } else {
      // Asking for the same again changes nothing, and waits once more.
      call.note(.unconfirmed, needsMap: false, needsPause: true)
    }
  }

  private func settle(_ index: Int, _ error: RedisServerError, _ address: RedisAddress, _ call: inout RedisCall) {
    let request = call.requests[index]
    let trouble = RedisTrouble.busy("\(address): \(error)")
    switch (error.word, error.target(from: address)) {
    case ("MOVED", let target?) where options.kind == .cluster:
      topology.move(request.part, to: target)
      call.note(trouble, needsMap: false, needsPause: false)
    case ("ASK", let target?) where !request.isScript:
      call.redirect(index, to: target)
      call.note(trouble, needsMap: false, needsPause: false)
    case ("NOSCRIPT", _):
      // The server's script cache was emptied: a new connection loads the scripts again.
      pool.removeIdle(address)
      call.note(trouble, needsMap: false, needsPause: false)
    case _ where error.isPassing || (options.findsServers && error.isOfChangingCluster):
      call.note(trouble, needsMap: true, needsPause: true)
    case ("WRONGTYPE", _)
    where options.layout.isIndexed && request.blamesTables && !error.description.contains(RedisScript.foreignEntry):
      call.fail(.foreignTable(store: options.description))
    default: call.fail(CacheError(error, store: options.description))
    }
  }

  /// Waits a little, and refreshes the map of parts to servers if necessary.
  ///
  /// - Throws: `CacheError` if the time is up, or no node of the cluster and no Sentinel answers.
  func prepareNextRound(
    _ call: inout RedisCall, _ pause: inout Duration, mayWait: Bool
  ) throws(CacheError) {
    let trouble = call.trouble ?? .busy("no answer")
    if ContinuousClock.now >= call.deadline {
      if options.kind == .cluster { noteAway(call) }
      throw CacheError(trouble, store: options.description, mayBeDone: call.mayBeDone)
    }
    if call.needsPause {
      usleep(UInt32(pause.components.attoseconds / 1_000_000_000_000))
      pause = min(pause * 2, .milliseconds(100))
    }
    guard call.needsMap, options.findsServers else { return }
    try findOwners(call, trouble)
    // No other node has replaced the silent one, so calls should not each wait for it.
    if !mayWait, case .silent = trouble, call.isStuck(topology, pool.isSilent) {
      throw CacheError(trouble, store: options.description, mayBeDone: call.mayBeDone)
    }
  }

  /// Records that nodes have refused connections for all the time of `call`, and no other node has replaced them, so that
  /// later calls fail at once.
  private func noteAway(_ call: RedisCall) {
    for address in call.pendingServers(topology) {
      do throws(RedisOpeningError) {
        pool.give(try pool.take(address, patience).connection)
      } catch {
        if case .trouble(.unreachable) = error { pool.noteSilence(address) }
      }
    }
  }

  /// Asks one node or Sentinel after another for the map, until one answers.
  private func findOwners(_ call: RedisCall, _ trouble: RedisTrouble) throws(CacheError) {
    var (last, refusal) = (trouble, CacheError?.none)
    for address in topology.nodes {
      do throws(RedisOpeningError) {
        if let sentinels = RedisSentinels(options) {
          switch try sentinels.master(by: address, patience) {
          case .success(let master): return topology.learn(master: master, from: address)
          case .failure(let error): refusal = error
          }
        } else if let reply = try slots(from: address), topology.learn(reply.value, from: address) {
          return
        }
      } catch {
        switch error {
        case .refused(let error): throw error.noting(mayBeDone: call.mayBeDone)
        case .trouble(let trouble): last = trouble
        }
      }
      if ContinuousClock.now >= call.deadline { break }
    }
    throw refusal?.noting(mayBeDone: call.mayBeDone)
      ?? CacheError(last, store: options.description, mayBeDone: call.mayBeDone)
  }

  /// The map according to the node at `address`; `nil` if it does not answer. A broken idle connection says nothing
  /// about the node.
  private func slots(from address: RedisAddress) throws(RedisOpeningError) -> RedisReply? {
    while true {
      let (connection, wasIdle) = try pool.take(address, patience)
      do throws(RedisDisconnection) {
        let reply = try connection.exchange([RedisCommand("CLUSTER", "SLOTS")])[0]
        pool.give(connection)
        return reply
      } catch {
        if case .abandoned = error { throw .refused(.abandoned) }
        pool.removeIdle(address)
        if case .silent = error { pool.noteSilence(address) }
        if !wasIdle { return nil }
      }
    }
  }
}

extension RedisServerError {
  /// Whether the error is temporary, such as one from a server that has just started.
  var isPassing: Bool { RedisLogin.passing.contains(String(word)) }

  /// Whether the error is one that a node returns while slots are migrated or a replica is promoted, or, to a script, when it
  /// has just joined the others.
  fileprivate var isOfChangingCluster: Bool {
    ["ASK", "MOVED", "READONLY"].contains(word)
      || ["non local key", "cluster is down"].contains(where: description.contains)
  }
}
