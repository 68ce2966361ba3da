internal import EngineAPI
internal import Synchronization

/// A store on a server, a cluster, or a master that Sentinels name. Calls wait for replies without a thread.
final class RedisEngine: StorageEngine {
  private let options: RedisOptions
  private let clock: any WallClock
  private let nodes: RedisNodes
  private let names: RedisNames
  private let scan: RedisScan
  private let calls = Mutex(Calls())

  /// The calls under way.
  private struct Calls {
    var count = 0
    var isClosed = false
    /// Wait until there are none.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// A store on connected servers. There is nothing to create: a store consists of its entries.
  init(_ options: RedisOptions, _ nodes: RedisNodes, clock: any WallClock) {
    self.options = options
    self.clock = clock
    self.nodes = nodes
    names = RedisNames(prefix: options.prefix, isCluster: nodes.isCluster)
    scan = RedisScan(nodes: nodes, names: names, store: "\(options)")
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try await whileOpen { () throws(CacheError) -> Output? in
      let name = names.name(of: key)
      let replies = try await nodes.send([RedisCommand("GET", name)], slot: names.slot(of: name), isRead: true)
      if replies[0].isNil { return nil }
      if let error = replies[0].error {
        throw error.word == "WRONGTYPE" ? .notAnEntry(key) : CacheError(error, store: "\(options)")
      }
      return try replies[0].withBytes { bytes throws(CacheError) in
        let (metadata, length) = try RedisEntry.decode(bytes, of: key)
        return try body(bytes.extracting(0..<length), metadata)
      }
    }
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await whileOpen { () throws(CacheError) in try await apply(RedisBatch(batch)) }
  }

  func changeMark(of key: CacheKey) -> ChangeMark? { nodes.changeMark(of: key, names) }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await whileOpen { () throws(CacheError) in try await scan.page(request) }
  }

  /// The approximate size in bytes of a key and its entry in the server's memory, without the payload and the name.
  private static let overhead = 200

  func count() async throws(CacheError) -> StoreCount {
    try await whileOpen { () throws(CacheError) in
      var (count, counted) = (StoreCount(), Set<CacheKey>())
      try await scan.visit { entries throws(CacheError) in
        // A scan can visit an entry twice.
        for entry in try entries.get() where counted.insert(entry.key).inserted {
          count[entry.key.namespace].add(
            payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
          count.storageBytes += entry.payloadBytes + entry.key.text.utf8.count + Self.overhead
        }
      }
      return count
    }
  }

  func check() async throws(CacheError) -> [IntegrityIssue] {
    try await whileOpen { () throws(CacheError) in
      var issues: [IntegrityIssue] = []
      try await scan.visit(includesPayloads: true) { entries in
        guard case .failure(let error) = entries else { return }
        let key = (error.cause as? UnreadableEntry)?.key
        if !issues.contains(where: { $0.key == key }) {
          issues.append(IntegrityIssue(key: key, kind: .undecodable, message: error.message))
        }
      }
      return issues
    }
  }

  func compact() async throws(CacheError) {
    let now = clock.now
    try await whileOpen { () throws(CacheError) in
      try await scan.visit { entries throws(CacheError) in
        for entry in (try? entries.get()) ?? [] where entry.metadata.state(at: now) == .expired {
          var batch = WriteBatch()
          batch.require(entry.key, .checksum(entry.metadata.checksum))
          batch.remove(entry.key)
          do throws(CacheError) { try await apply(RedisBatch(batch)) } catch {
            // Another process has replaced the entry.
            guard error.code == .conflict else { throw error }
          }
        }
      }
    }
  }

  func close() async throws(CacheError) {
    await withCheckedContinuation { continuation in
      let isIdle = calls.withLock { calls in
        calls.isClosed = true
        if calls.count > 0 { calls.waiting.append(continuation) }
        return calls.count == 0
      }
      if isIdle { continuation.resume() }
    }
    nodes.close()
  }

  /// Calls `body` unless the store is closed, which waits for it.
  private func whileOpen<Output>(
    _ body: () async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try calls.withLock { calls throws(CacheError) in
      if calls.isClosed { throw .storeClosed }
      calls.count += 1
    }
    defer {
      let waiting = calls.withLock { calls in
        calls.count -= 1
        return calls.count == 0 ? calls.waiting : []
      }
      for continuation in waiting { continuation.resume() }
    }
    return try await body()
  }
}

/// Batches.
extension RedisEngine {
  private func apply(_ batch: RedisBatch) async throws(CacheError) {
    let parts = batch.parts(names)
    if let part = parts.first, parts.count == 1 { return try await send(part.batch, part.slot) }
    // Each part is all or nothing. They fail together only if no other process writes meanwhile.
    for (slot, part) in parts where !part.wanted.isEmpty { try await send(part.requirements, slot) }
    if Task.isCancelled { throw .cancelled }
    // In its own task: a call that is cancelled now still makes all parts.
    let failure = await Task {
      await withTaskGroup(of: CacheError?.self) { group in
        for (slot, part) in parts {
          group.addTask {
            do throws(CacheError) {
              try await self.send(part, slot)
              return nil
            } catch {
              return error
            }
          }
        }
        return await group.reduce(nil) { $0 ?? $1 }
      }
    }.value
    if let failure { throw failure }
  }

  /// Makes the changes of `batch`, whose entries are in `slot`.
  private func send(_ batch: RedisBatch, _ slot: Int?) async throws(CacheError) {
    for script in [RedisScript.byHash, .inFull] {
      let command = try batch.command(names, at: clock.now, script)
      let reply = try await nodes.send([command], slot: slot, isRead: false)[0]
      if let error = reply.error {
        if error.word == "NOSCRIPT", script == .byHash { continue }
        throw CacheError(error, store: "\(options)")
      }
      if let failure = batch.failure(reply) { throw failure }
      return
    }
  }
}

/// The commands that a plugin sends without an open store.
extension RedisEngine {
  func inspect() async throws(CacheError) -> StoreInspection {
    let (limits, caution) = try await limits()
    let name = try await scan.anyName()
    var format: Int?
    if let name { format = try await self.format(of: name) }
    return StoreInspection(
      path: "\(options)", exists: name != nil, files: [], format: format, currentFormat: RedisEntry.format,
      limits: limits, caution: caution)
  }

  /// The version of the entry called `name`; `nil` if it is none.
  private func format(of name: String) async throws(CacheError) -> Int? {
    let command = RedisCommand("GETRANGE", name, "-1", "-1")
    let reply = try await nodes.send([command], slot: names.slot(of: name), isRead: true)[0]
    return reply.error == nil ? reply.bytes.first.flatMap(RedisEntry.version) : nil
  }

  /// How the servers bound the store, and a warning if that is unsuitable.
  private func limits() async throws(CacheError) -> (limits: String, caution: String?) {
    var (limits, caution) = (Set<String>(), String?.none)
    for node in try await nodes.masters() {
      let (address, reply) = (node.address, try await node.ask(RedisCommand("INFO", "memory")))
      let (memory, policy) = (Int(reply.fact("maxmemory") ?? "") ?? 0, reply.fact("maxmemory_policy") ?? "")
      limits.insert("maxmemory \(memory == 0 ? "unlimited" : "\(memory >> 20) MiB"), \(policy)")
      if memory == 0 {
        caution = "nothing limits the memory of \(address): set maxmemory, and maxmemory-policy to allkeys-lru"
      } else if policy != "allkeys-lru", policy != "allkeys-lfu" {
        caution =
          "\(address) has the maxmemory-policy \(policy): set allkeys-lru or allkeys-lfu, so that new entries "
          + "replace old ones"
      }
    }
    return (limits.sorted().joined(separator: "; "), caution)
  }

  /// Removes all entries.
  func removeStore() async throws(CacheError) { try await scan.removeAll() }
}
