internal import StorageSPI

/// The operations on a store; each call blocks its thread.
struct RedisStore: Sendable {
  let options: RedisOptions
  private(set) var router: RedisRouter
  /// The name under which the store publishes its changes, so that its own follower ignores them; empty on a cluster,
  /// where a message would go to every node.
  let publisher: String
  /// What all parts held when they were last asked.
  let holdings = RedisHoldings()
  /// The writers of batches.
  private(set) var writers = RedisWriters()
  /// What a scan has listed beyond its end.
  let ahead = RedisReadAhead()
  /// How far the search for lines without an entry has come.
  let tidying = RedisTidying()

  var layout: RedisLayout { options.layout }

  init(_ options: RedisOptions) {
    self.options = options
    publisher = options.kind == .cluster ? "" : String(UInt64.random(in: 0 ... .max), radix: 16)
    router = RedisRouter(options)
  }

  /// The same store for a call that `patience` limits, and that has made `attempt`.
  func limited(by patience: RedisPatience, after attempt: RedisAttempt? = nil) -> RedisStore {
    var limited = self
    limited.router.patience = patience
    limited.router.attempt = attempt
    // The server may get a batch of the attempt after the answer to its second copy: until then it must remember the
    // batch, so that its writer has no other one.
    if attempt != nil { limited.writers = RedisWriters() }
    return limited
  }

  /// On one server it throws `unsupportedFormat` if a later version wrote the store; on a cluster the first write to a part
  /// that a later version wrote does. On a cluster it is enough that one node answers.
  func checkFormat() throws(CacheError) {
    guard layout.isIndexed else { return try checkAbsenceOfTables() }
    if !layout.isSpread { return try checkFormatAlone() }
    // Parts of all nodes.
    let parts = stride(from: 0, to: layout.parts.count, by: 512)
    _ = try router.ask(parts.map { RedisRequest($0, RedisCommand("EXISTS", layout.tables(of: $0)[0])) })
  }

  private func checkFormatAlone() throws(CacheError) {
    let marker = RedisRequest(0, RedisCommand("EXISTS", layout.marker))
    var replies: [RedisReply]
    do throws(CacheError) {
      replies = try router.perform([RedisRequest(0, RedisCommand("HGET", layout.tables(of: 0)[1], "format")), marker])
      try check(format: replies[0].value.number)
    } catch {
      // A tally of the wrong type is damage, but the entries can still be read.
      guard error.code == .damaged else { throw error }
      replies = try router.perform([marker])
    }
    if replies.last?.value.integer == 1 { throw ofOther("rediscache") }
  }

  /// The error for a store that is one of the engine called `backend`.
  func ofOther(_ backend: String) -> CacheError {
    CacheError(
      .unsupportedFormat, "\(options): the store there is one of the backend \(backend)",
      hint: "give another prefix, or use that backend")
  }

  private func check(format: Int64?) throws(CacheError) {
    guard (format ?? 0) <= Int64(RedisLayout.format) else {
      throw CacheError(
        .unsupportedFormat, "\(options): the store has a format that this version does not read",
        hint: "give another prefix; nothing was changed")
    }
  }

  /// Throws `unsupportedFormat` if a later version or the other engine for one server wrote the store. Accepts a damaged
  /// store, and one that both engines have written to.
  func checkOwnership() throws(CacheError) {
    do throws(CacheError) {
      if layout.isIndexed { try check(format: try count(onlyReading: true).format) }
    } catch {
      guard error.code == .damaged else { throw error }
      try checkFormats()
    }
    if layout.isSpread { return }
    var tables = RedisCommand("EXISTS")
    tables.append(layout.tables(of: 0))
    let replies = try router.perform([
      RedisRequest(0, tables), RedisRequest(0, RedisCommand("EXISTS", layout.marker)),
    ])
    let (hasTables, hasMarker) = (replies[0].value.integer != 0, replies[1].value.integer != 0)
    if layout.isIndexed, hasMarker, !hasTables { throw ofOther("rediscache") }
    if !layout.isIndexed, hasTables, !hasMarker { throw ofOther("redis") }
  }

  /// Checks the format of each part whose tally cannot be read otherwise. Accepts tallies of another type.
  private func checkFormats() throws(CacheError) {
    let replies: [RedisReply]
    do throws(CacheError) {
      replies = try router.perform(
        layout.parts.map { RedisRequest($0, RedisCommand("HGET", layout.tables(of: $0)[1], "format")) })
    } catch {
      guard error.code == .damaged else { throw error }
      return
    }
    for reply in replies { try check(format: reply.value.number) }
  }

  /// Inspects the store. Cost: a round trip, which asks all nodes at once.
  func inspect() throws(CacheError) -> StoreInspection {
    let (exists, format, damage) = try presence()
    return StoreInspection(
      path: options.description, exists: exists, files: [], format: exists ? format : nil,
      currentFormat: RedisLayout.format, caution: damage ?? caution())
  }

  /// Whether there is a store, and its version; no version, but the damage, if the tally is lost or cannot be read.
  private func presence() throws(CacheError) -> (exists: Bool, format: Int?, damage: String?) {
    guard layout.isIndexed else { return (try hasEntries(), RedisLayout.format, nil) }
    do throws(CacheError) {
      let count = try count(onlyReading: true)
      return (count.format != nil || count.tally.total.entries > 0, count.format.flatMap { Int(exactly: $0) }, nil)
    } catch {
      guard error.code == .damaged else { throw error }
      return (true, nil, error.message)
    }
  }

  /// What to know of the servers. A user who may not ask learns nothing.
  private func caution() -> String? {
    let replies = try? router.performOnNodes { RedisRequest($0.parts[0], RedisCommand("INFO", "memory")) }
    for (_, reply) in replies ?? [] {
      let lines = reply.value.text?.split(whereSeparator: \.isNewline) ?? []
      func value(_ name: String) -> Substring? {
        lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.utf8.count + 1)
      }
      guard let memory = value("maxmemory"), let policy = value("maxmemory_policy") else { continue }
      if let caution = caution(memory: memory, policy: String(policy)) { return caution }
    }
    return nil
  }

  /// What to know of a server with this `maxmemory` and `maxmemory-policy`.
  private func caution(memory: Substring, policy: String) -> String? {
    if layout.isIndexed {
      guard memory != "0", policy.hasPrefix("allkeys-") else { return nil }
      return
        "the server may evict the index of the store: its maxmemory-policy is \(policy), and should be noeviction or "
        + "volatile-ttl"
    }
    if memory == "0" { return "nothing bounds the store: give the server a maxmemory" }
    if ["allkeys-lru", "allkeys-lfu"].contains(policy) { return nil }
    return "the server's maxmemory-policy is \(policy), and should be allkeys-lru or allkeys-lfu"
  }

  /// The entry under `key`; `nil` if there is none. Cost: a round trip.
  func entry(_ key: CacheKey) throws(CacheError) -> RedisStoredEntry? {
    try entry(key, in: try router.perform(reading(key)))
  }

  /// Copies of those entries under `keys` that are still there. Cost: a round trip.
  func entries(_ keys: [CacheKey]) throws(CacheError) -> [ScannedEntry] {
    var entries: [ScannedEntry] = []
    for (key, reply) in zip(keys, try router.perform(keys.map(reading))) {
      guard let entry = try entry(key, in: reply.value) else { continue }
      entries.append(ScannedEntry(key: key, metadata: entry.metadata, payload: entry.payload))
    }
    return entries
  }

  /// The request for the entry under `key`.
  func reading(_ key: CacheKey) -> RedisRequest {
    RedisRequest(layout.part(of: key), RedisCommand("GET", layout.name(of: key)))
  }

  /// The entry under `key` in the reply to `reading`.
  func entry(_ key: CacheKey, in reply: RedisValue) throws(CacheError) -> RedisStoredEntry? {
    if reply.isNil { return nil }
    guard let entry = RedisStoredEntry(reply) else { throw unreadable(key) }
    return entry
  }

  /// The error for an undecodable entry.
  func unreadable(_ key: CacheKey) -> CacheError {
    .undecodable("entry \(key) is not what was written", store: options.description, cause: UnreadableEntry(key))
  }
}

/// An entry in a server's reply.
struct RedisStoredEntry: Sendable {
  private let value: RedisValue
  private let payloadBytes: Int
  let metadata: EntryMetadata

  /// `nil` if `value` is not an entry.
  init?(_ value: RedisValue) {
    guard let (payloadBytes, metadata) = value.withBytes({ RedisEntry.decode($0) }) else { return nil }
    (self.value, self.payloadBytes, self.metadata) = (value, payloadBytes, metadata)
  }

  /// A copy of the payload.
  var payload: [UInt8] { withPayload { bytes in bytes.withUnsafeBufferPointer { Array($0) } } }

  /// Lends the payload to `body`.
  func withPayload<Output, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Output) throws(Failure) -> Output {
    try value.withBytes { bytes throws(Failure) in try body(bytes.extracting(0..<payloadBytes)) }
  }
}
