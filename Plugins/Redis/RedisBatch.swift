internal import EngineAPI

/// A batch as the server takes it: what each entry must be before, and what becomes of it.
///
/// What an operation requires of earlier operations of the batch is decided here.
struct RedisBatch: Sendable {
  enum Change: Sendable {
    case put([UInt8], EntryMetadata)
    case update(EntryMetadata)
    case remove
  }

  /// The keys in the order in which the batch has them first.
  private(set) var keys: [CacheKey] = []
  private(set) var wanted: [CacheKey: WriteBatch.Expectation] = [:]
  private(set) var changes: [CacheKey: Change] = [:]

  /// - Throws: `CacheError` with the code `conflict` if a requirement can never hold.
  init(_ batch: WriteBatch) throws(CacheError) {
    for operation in batch.operations {
      let key = operation.key
      if wanted[key] == nil, changes[key] == nil { keys.append(key) }
      switch operation {
      case .put(_, let payload, let metadata): changes[key] = .put(payload, metadata)
      case .remove: changes[key] = .remove
      case .require(_, let expectation): try require(key, expectation)
      case .update(_, let metadata, let checksum):
        try require(key, .checksum(checksum))
        if case .put(let payload, _)? = changes[key] {
          changes[key] = .put(payload, metadata)
        } else {
          changes[key] = .update(metadata)
        }
      }
    }
  }

  private init() {}

  private mutating func require(_ key: CacheKey, _ expectation: WriteBatch.Expectation) throws(CacheError) {
    let isMet =
      switch changes[key] {
      case nil: (wanted.updateValue(expectation, forKey: key) ?? expectation) == expectation
      case .put(_, let metadata), .update(let metadata): expectation.isMet(byChecksum: metadata.checksum)
      case .remove: expectation.isMet(byChecksum: nil)
      }
    guard isMet else { throw .conflict(on: key) }
  }

  /// The parts of the batch, each of one hash slot; on one server all of it.
  func parts(_ names: RedisNames) -> [(slot: Int?, batch: RedisBatch)] {
    guard names.isCluster else { return keys.isEmpty ? [] : [(nil, self)] }
    var parts: [Int: RedisBatch] = [:]
    for key in keys {
      let slot = names.slot(of: names.name(of: key)) ?? 0
      parts[slot, default: RedisBatch()].keys.append(key)
      parts[slot]?.wanted[key] = wanted[key]
      parts[slot]?.changes[key] = changes[key]
    }
    return parts.map { ($0.key, $0.value) }
  }

  /// The requirements alone.
  var requirements: RedisBatch {
    var batch = RedisBatch()
    (batch.keys, batch.wanted) = (keys.filter { wanted[$0] != nil }, wanted)
    return batch
  }
}

extension RedisBatch {
  /// How long the server keeps an entry at least, whatever its `retainUntil`: the server's clock might be so far ahead,
  /// and a lease that has run out must still be seen.
  private static let shortestStay = Timestamp.clockTolerance

  /// The command that makes the changes, if each entry is as wanted. Its reply is for `conflict(_:)`.
  func command(_ names: RedisNames, at now: Timestamp, _ script: RedisScript = .byHash) throws(CacheError)
    -> RedisCommand
  {
    if wanted.isEmpty, changes.values.allSatisfy({ if case .remove = $0 { true } else { false } }) {
      var command = RedisCommand("UNLINK")
      for key in keys { command.append(names.name(of: key)) }
      return command
    }
    if keys.count == 1, let key = keys.first, case .put(let payload, let metadata)? = changes[key],
      wanted[key] == nil || wanted[key] == .absent
    {
      var command = RedisCommand("SET", names.name(of: key))
      command.append(try RedisEntry.encode(key, payload, metadata))
      if wanted[key] != nil { command.append("NX") }
      if let end = Self.end(of: metadata, at: now) {
        command.append("PXAT")
        command.append(end)
      }
      return command
    }
    var command = script.command(keys: keys.map { names.name(of: $0) })
    for key in keys { try append(key, at: now, to: &command) }
    return command
  }

  private func append(_ key: CacheKey, at now: Timestamp, to command: inout RedisCommand) throws(CacheError) {
    switch wanted[key] {
    case nil: command.append("")
    case .absent: command.append("absent")
    case .checksum(let checksum): command.append(RedisEntry.bytes(ofChecksum: checksum))
    }
    let change: (action: String, entry: [UInt8], end: String) =
      switch changes[key] {
      case .put(let payload, let metadata):
        ("put", try RedisEntry.encode(key, payload, metadata), Self.end(of: metadata, at: now) ?? "")
      case .update(let metadata):
        ("update", try RedisEntry.encode(key, [], metadata), Self.end(of: metadata, at: now) ?? "")
      case .remove: ("remove", [], "")
      case nil: ("", [], "")
      }
    command.append(change.action)
    command.append(change.entry)
    command.append(change.end)
  }

  /// When the server drops the entry; `nil` for never.
  private static func end(of metadata: EntryMetadata, at now: Timestamp) -> String? {
    let end = max(metadata.retainUntil, now.advanced(by: shortestStay))
    return end == .distantFuture ? nil : String(end.milliseconds)
  }

  /// The error that the reply to the command tells, if no server error does; `nil` if the changes were made.
  func failure(_ reply: RedisValue) -> CacheError? {
    if reply.isNil { return keys.first.map { .conflict(on: $0) } }
    guard let number = reply.integer, wanted.isEmpty == false, number != 0 else { return nil }
    let index = Int(abs(number)) - 1
    guard keys.indices.contains(index) else { return nil }
    return number > 0 ? .conflict(on: keys[index]) : .notAnEntry(keys[index])
  }
}

/// The script that makes a batch, named by its digest, which a server knows once it has run the script, or in full.
enum RedisScript {
  case byHash, inFull

  /// The script with `keys`, to which its arguments are to be appended: for each key the wanted checksum, "absent" or "";
  /// "put", "update", "remove" or ""; the entry, or one without a payload; and when it ends, or "".
  func command(keys: [String]) -> RedisCommand {
    var command = self == .byHash ? RedisCommand("EVALSHA", Self.hash) : RedisCommand("EVAL", Self.source)
    command.append(String(keys.count))
    for key in keys { command.append(key) }
    return command
  }

  /// The SHA-1 of the source. A test compares it with what a server says.
  static let hash = "2a5526ff0f658d71d1ff62a95ff478359472babf"

  /// Returns 0, or the number of the first key whose entry is not as wanted, negative if the value there is not an entry.
  ///
  /// Puts come before removals: a server without room refuses the first put, before anything is changed.
  static let source = #"""
    for i, key in ipairs(KEYS) do
      local wanted = ARGV[4 * i - 3]
      if wanted == 'absent' then
        if redis.call('EXISTS', key) == 1 then return i end
      elseif wanted ~= '' then
        local tail = redis.pcall('GETRANGE', key, -256, -1)
        if type(tail) == 'table' then return string.find(tail.err, 'WRONGTYPE') and -i or tail end
        local last = string.byte(tail, -1)
        if not last then return i end
        if #tail < 61 or last < 192 or last > 207 then return -i end
        local place = 31 - struct.unpack('<I4', tail, #tail - 4)
        if #tail < -place then tail = redis.call('GETRANGE', key, place, -1) end
        if string.sub(tail, place, place + 7) ~= wanted then return i end
      end
    end
    for i, key in ipairs(KEYS) do
      local action, entry, ending = ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i]
      if action == 'update' then
        local length = redis.call('GETRANGE', key, -9, -6)
        local size = struct.unpack('<I4', length)
        entry = string.sub(entry, 1, -10) .. length .. string.sub(entry, -5)
        if size > 0 then entry = redis.call('GETRANGE', key, 0, size - 1) .. entry end
      end
      if action == 'put' or action == 'update' then
        if ending == '' then
          redis.call('SET', key, entry)
        else
          redis.call('SET', key, entry, 'PXAT', ending)
        end
      end
    end
    for i, key in ipairs(KEYS) do
      if ARGV[4 * i - 2] == 'remove' then redis.call('UNLINK', key) end
    end
    return 0
    """#
}
