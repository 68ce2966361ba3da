internal import StorageSPI

/// The operations on a store; each call blocks its thread.
struct RedisStore: Sendable {
  let options: RedisOptions
  private(set) var router: RedisRouter
  /// The name under which the store publishes its changes, so that its own follower ignores them; empty on a cluster,
  /// where a message would go to every node.
  let publisher: String
  /// What the parts held when they were last asked.
  let holdings = RedisHoldings()
  /// The names of answered batches.
  private(set) var names = RedisBatchNames()
  /// How far the search for lines without an entry has come.
  let tidying = RedisTidying()

  var layout: RedisLayout { options.layout }

  init(_ options: RedisOptions) {
    self.options = options
    publisher = options.kind == .server ? String(UInt64.random(in: 0 ... .max), radix: 16) : ""
    router = RedisRouter(options)
  }

  /// The same store for a call that `patience` limits, and that has made `attempt`.
  func limited(by patience: RedisPatience, after attempt: RedisAttempt? = nil) -> RedisStore {
    var limited = self
    limited.router.patience = patience
    limited.router.attempt = attempt
    // The server may get a batch of the attempt after the answer to its second copy: until then it must remember its name,
    // which therefore never becomes that of an answered batch.
    if attempt != nil { limited.names = RedisBatchNames() }
    return limited
  }

  /// Throws `unsupportedFormat` if another version wrote the store. On a cluster it skips parts whose nodes do not
  /// answer.
  func checkFormat() throws(CacheError) {
    for format in try router.ask(layout.parts.map(formatRequest)).compactMap({ $0?.value }) {
      guard format.isNil || format.number == Int64(RedisLayout.format) else {
        throw CacheError(
          .unsupportedFormat, "\(options): the store has a format that this version does not read",
          hint: "give another prefix; nothing was changed")
      }
    }
  }

  private func formatRequest(_ part: Int) -> RedisRequest {
    RedisRequest(part, RedisCommand("HGET", layout.tables(of: part)[2], "format"))
  }

  /// Inspects the store. Cost: a round trip, which asks all parts at once.
  func inspect() throws(CacheError) -> StoreInspection {
    let indexes = layout.parts.map { RedisRequest($0, RedisCommand("EXISTS", layout.tables(of: $0)[0])) }
    let answers = try router.perform(layout.parts.map(formatRequest) + indexes).map(\.value)
    let formats = answers.prefix(layout.partCount).filter { !$0.isNil }
    let hasIndex = answers.dropFirst(layout.partCount).contains { $0.integer == 1 }
    // An index without a tally belongs to an incomplete store, which can still be opened.
    let format = formats.isEmpty ? Int64(RedisLayout.format) : formats.compactMap(\.number).max()
    let exists = hasIndex || !formats.isEmpty
    return StoreInspection(
      path: options.description, exists: exists, files: [], format: exists ? format.flatMap { Int(exactly: $0) } : nil,
      currentFormat: RedisLayout.format, caution: caution())
  }

  /// What to know of the servers. A user who may not ask learns nothing.
  private func caution() -> String? {
    let requests = layout.parts.map { RedisRequest($0, RedisCommand("INFO", "memory")) }
    for reply in (try? router.perform(requests)) ?? [] {
      let lines = reply.value.text?.split(whereSeparator: \.isNewline) ?? []
      func value(_ name: String) -> Substring? {
        lines.first { $0.hasPrefix(name + ":") }?.dropFirst(name.utf8.count + 1)
      }
      if value("maxmemory") != "0", let policy = value("maxmemory_policy"), policy.hasPrefix("allkeys-") {
        return "the server may evict the index of the store: its maxmemory-policy is \(policy), and should be "
          + "noeviction or volatile-ttl"
      }
    }
    return nil
  }

  /// The entry under `key`; `nil` if there is none. Cost: a round trip.
  func entry(_ key: CacheKey) throws(CacheError) -> (payload: RedisValue, metadata: EntryMetadata)? {
    try entry(key, in: try router.perform(reading(key)))
  }

  /// Copies of the entries under `keys`. Cost: a round trip.
  func entries(_ keys: [CacheKey]) throws(CacheError) -> [Result<ReadEntry?, CacheError>] {
    do throws(CacheError) {
      return zip(keys, try router.perform(keys.map(reading))).map { key, reply in
        Self.copy { () throws(CacheError) in try entry(key, in: reply.value) }
      }
    } catch {
      // A key of another type fails the whole call, and the error does not name the key.
      guard error.code == .damaged else { throw error }
      return keys.map { key in Self.copy { () throws(CacheError) in try entry(key) } }
    }
  }

  private static func copy(
    of entry: () throws(CacheError) -> (payload: RedisValue, metadata: EntryMetadata)?
  ) -> Result<ReadEntry?, CacheError> {
    do throws(CacheError) {
      guard let (payload, metadata) = try entry() else { return .success(nil) }
      let bytes = payload.withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
      return .success(ReadEntry(payload: bytes, metadata: metadata))
    } catch {
      return .failure(error)
    }
  }

  /// The request for the entry under `key`.
  func reading(_ key: CacheKey) -> RedisRequest {
    var command = RedisCommand("HMGET", layout.name(of: key), "payload")
    command.append(RedisEntry.fields)
    return RedisRequest(layout.part(of: key), command)
  }

  /// The entry under `key` in the reply to `reading`.
  func entry(
    _ key: CacheKey, in reply: RedisValue
  ) throws(CacheError) -> (payload: RedisValue, metadata: EntryMetadata)? {
    let values = reply.elements ?? []
    if values.count == RedisEntry.fields.count + 1, values.allSatisfy(\.isNil) { return nil }
    guard values.count == RedisEntry.fields.count + 1, !values[0].isNil,
      let metadata = RedisEntry.metadata(values.dropFirst())
    else { throw unreadable(key) }
    return (values[0], metadata)
  }

  /// The error for an undecodable entry.
  func unreadable(_ key: CacheKey) -> CacheError { router.undecodable("entry \(key) is not what was written") }
}
