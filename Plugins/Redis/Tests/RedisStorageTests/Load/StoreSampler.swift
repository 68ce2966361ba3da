import StorageSPI

@testable import HiredisStorage

/// Looks at a store from outside, with plain commands over connections of its own: what its tallies say, and what is
/// really there.
struct StoreSampler {
  /// What all servers had at one moment.
  struct Sample: Hashable, CustomStringConvertible {
    /// What the tallies count.
    var counted = SlotTally.Count()
    /// The entries, with the sizes of their payloads.
    var held = SlotTally.Count()
    /// The lines of the indexes.
    var lines = 0
    /// The number of changes to the store.
    var changes = 0

    var description: String { "\(held.entries) entries of \(held.payloadBytes) bytes" }
  }

  /// The form of a key of a table is that of no entry's key, which ends with a number here.
  ///
  /// `ARGV`: the prefix, and how much longer an entry is than its payload.
  private static let source = """
    local entries, bytes, lines, tally, changes = 0, 0, 0, {0, 0}, 0
    for _, name in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do
      local ending = string.sub(name, -6)
      if ending == ':tally' then
        local count, size = string.match(redis.call('HGET', name, '*') or '0 0', '^(%S+) (%S+)$')
        tally = {tally[1] + count, tally[2] + size}
        changes = changes + (redis.call('HGET', name, 'changes') or 0)
      elseif ending == ':index' then
        lines = lines + redis.call('ZCARD', name)
      else
        entries, bytes = entries + 1, bytes + redis.call('STRLEN', name) - ARGV[2]
      end
    end
    return {tally[1], tally[2], entries, bytes, lines, changes}
    """

  private let connections: [RedisConnection]
  private let look: RedisCommand

  /// A sampler of the store called `prefix` on `servers`, all of which are masters.
  init(_ servers: [RedisServer], prefix: String) throws {
    let now = SystemClock().now
    let metadata = EntryMetadata(storedAt: now, freshUntil: now, retainUntil: now, contentType: "text/plain")
    let overhead = try RedisEntry.encode(try CacheKey("cities/0"), [], metadata).count
    connections = try servers.map { try $0.connection() }
    look = RedisCommand("EVAL_RO", Self.source, "0", prefix, String(overhead))
  }

  /// What the servers have. If these are several, no writer changes any of them meanwhile.
  func sample() throws -> Sample {
    if connections.count == 1 { return try total(ask(look)) }
    // The pause ends by itself if the process does.
    _ = try ask(RedisCommand("CLIENT", "PAUSE", "60000", "WRITE"))
    let sample = try total(ask(look))
    _ = try ask(RedisCommand("CLIENT", "UNPAUSE"))
    return sample
  }

  /// What all servers answer to `command`.
  private func ask(_ command: RedisCommand) throws -> [RedisReply] {
    var bytes: [UInt8] = []
    command.encode(into: &bytes)
    for connection in connections { try connection.send(bytes) }
    return try connections.map { try $0.receive() }
  }

  private func total(_ replies: [RedisReply]) throws -> Sample {
    try replies.reduce(into: Sample()) { sum, reply in
      let numbers = reply.value.elements?.compactMap { $0.integer.map { Int($0) } } ?? []
      guard numbers.count == 6 else {
        throw RedisServer.Failure(description: "no sample: \(reply.value.error?.description ?? "an odd answer")")
      }
      sum.counted = sum.counted + SlotTally.Count(entries: numbers[0], payloadBytes: numbers[1])
      sum.held = sum.held + SlotTally.Count(entries: numbers[2], payloadBytes: numbers[3])
      sum.lines += numbers[4]
      sum.changes += numbers[5]
    }
  }
}
