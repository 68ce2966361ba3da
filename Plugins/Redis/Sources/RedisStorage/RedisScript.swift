/// The scripts that run on the server. Each runs as a whole: nobody sees the store in between.
///
/// Rules for all of them, so that a slot of a cluster may be migrated at any moment:
/// - Everything that could fail is read before the first write, and a table is added to before it is taken from: a
///   server that is giving a slot away refuses to make a key that is not there.
/// - Tables come as `KEYS`, so that the server refuses to begin where some of them have been given away already.
enum RedisScript: Int, Sendable, CaseIterable {
  case apply, scan, statistics, compact, examine

  /// The script's text.
  var source: String {
    switch self {
    case .apply: Self.common + Self.applySource
    case .scan: Self.common + Self.scanSource
    case .statistics: Self.common + Self.statisticsSource
    case .compact: Self.common + Self.compactSource
    case .examine: Self.common + Self.examineSource
    }
  }

  /// How many expired entries a call forgets at most, so that none of them keeps the server for long.
  static let sweepLimit = 500

  /// `counts` gathers how the tally changes, `before` what it is, `dropped` the lines of the index that go.
  ///
  /// The tables of a store without entries go after `lifetime`, so that nothing is left behind.
  ///
  /// `KEYS`: the tables `keys` (the index: a line for each entry, in the order of keys: key, slot of freshness, slot of
  /// retention, bytes), `expiry` (when the server drops which entry), `tally` and `totals` (by slot and by namespace:
  /// entries, bytes).
  private static let common = #"""
    local keys, expiry, tally, totals = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
    local prefix = string.sub(keys, 1, #keys - 4)
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local counts, before, dropped, forgotten, lifetime = {}, {}, {}, {}, 60000

    local function text(number) return string.format('%.0f', number) end

    local function parse(value)
      if not value then return 0, 0 end
      local entries, bytes = string.match(value, '^(-?%d+) (-?%d+)$')
      if not entries then error('the tally is damaged') end
      return tonumber(entries), tonumber(bytes)
    end

    local function tableOf(field) return string.find(field, ' ', 1, true) and tally or totals end

    local function count(field, entries, bytes)
      if not before[field] then before[field] = {parse(redis.call('HGET', tableOf(field), field))} end
      local change = counts[field] or {0, 0}
      counts[field] = {change[1] + entries, change[2] + bytes}
    end

    local function countEntry(key, fresh, retain, entries, bytes)
      local namespace = string.match(key, '^[^/]*')
      count(namespace .. ' ' .. fresh .. ' ' .. retain, entries, bytes)
      count(namespace, entries, bytes)
    end

    local function drop(key)
      local line = redis.call('ZRANGEBYLEX', keys, '[' .. key .. ' ', '(' .. key .. '!', 'LIMIT', 0, 1)[1]
      if not line then return end
      local fresh, retain, bytes = string.match(string.sub(line, #key + 1), '^ (%d+) (%d+) (%d+)$')
      if not fresh then error('the index is damaged at ' .. key) end
      countEntry(key, fresh, retain, -1, -tonumber(bytes))
      dropped[line] = true
    end

    -- Lets the names of batches go with the last of them, whoever else remembers his for a shorter time.
    local function retire()
      local last = redis.call('ZREVRANGE', expiry, 0, 0, 'WITHSCORES')[2] or now
      redis.call('PEXPIRE', expiry, text(math.max(lifetime, last - now)))
    end

    local function commit()
      local changed, empty = false, {}
      for field, change in pairs(counts) do
        if change[1] ~= 0 or change[2] ~= 0 then
          changed = true
          local entries, bytes = before[field][1] + change[1], before[field][2] + change[2]
          if entries == 0 then
            empty[#empty + 1] = {tableOf(field), field}
          else
            redis.call('HSET', tableOf(field), field, text(entries) .. ' ' .. text(bytes))
          end
        end
      end
      if changed then
        redis.call('HSET', tally, 'format', '1')
        redis.call('HINCRBY', tally, 'changes', 1)
        local left = redis.call('ZCARD', keys)
        for _ in pairs(dropped) do left = left - 1 end
        if left == 0 then
          redis.call('PEXPIRE', tally, lifetime)
          retire()
        else
          for _, kept in ipairs({tally, expiry}) do redis.call('PERSIST', kept) end
        end
      end
      for _, place in ipairs(empty) do redis.call('HDEL', place[1], place[2]) end
      for line in pairs(dropped) do redis.call('ZREM', keys, line) end
      for _, key in ipairs(forgotten) do redis.call('ZREM', expiry, key) end
      counts, before, dropped, forgotten = {}, {}, {}, {}
    end

    -- A server without room refuses a script's first write where it may take memory, and none after it. What only takes
    -- away begins with a write that takes none.
    local function begin() redis.call('ZREM', expiry, '') end

    local function sweep(limit, adds)
      local expired = redis.call('ZRANGEBYSCORE', expiry, '-inf', text(now), 'LIMIT', 0, limit)
      if #expired > 0 and not adds then begin() end
      for _, key in ipairs(expired) do
        drop(key)
        forgotten[#forgotten + 1] = key
      end
      commit()
      return #expired == limit
    end

    """#

  /// `ARGV`: the first and the last line as `ZRANGEBYLEX` has them, and how many entries at most. Answers the fields of
  /// each entry, its key and its size.
  private static let scanSource = #"""
    local from, left, found = ARGV[1], tonumber(ARGV[3]), {}
    while left > 0 do
      local size = math.min(left, 1000)
      local page = redis.call('ZRANGEBYLEX', keys, from, ARGV[2], 'LIMIT', 0, size)
      for _, line in ipairs(page) do
        local key, bytes = string.match(line, '^(%S+) %d+ %d+ (%d+)$')
        if not key then error('the index is damaged at ' .. line) end
        local entry = redis.call('HMGET', prefix .. key, 'storedAt', 'freshUntil', 'retainUntil', 'contentType',
          'attributes', 'checksum')
        if entry[1] or entry[6] then
          entry[7], entry[8] = key, bytes
          found[#found + 1] = entry
          left = left - 1
        end
      end
      if #page < size then break end
      from = '(' .. page[#page]
    end
    return found
    """#

  /// Answers whether there is more to forget before counting; the tally; what the tables take up in memory.
  private static let statisticsSource = #"""
    if sweep(\#(sweepLimit), false) then return {1} end
    local memory = 0
    for index = 1, 4 do memory = memory + (redis.call('MEMORY', 'USAGE', KEYS[index]) or 0) end
    return {0, redis.call('HGETALL', tally), memory}
    """#

  /// `ARGV`: the time; the latest time at which the server drops what may have expired by then; how many to pass over;
  /// how many to look at. Answers how many of those were kept, and whether there may be more.
  private static let compactSource = #"""
    local found = redis.call('ZRANGEBYSCORE', expiry, '-inf', ARGV[2], 'LIMIT', ARGV[3], ARGV[4])
    local kept, entries = 0, {}
    for _, key in ipairs(found) do
      local retain = string.sub(key, 1, 1) ~= ' ' and redis.call('HGET', prefix .. key, 'retainUntil')
      if string.sub(key, 1, 1) == ' ' or retain and tonumber(retain) > tonumber(ARGV[1]) then
        kept = kept + 1
      else
        drop(key)
        forgotten[#forgotten + 1] = key
        if retain then entries[#entries + 1] = prefix .. key end
      end
    end
    if #forgotten > 0 then begin() end
    for _, entry in ipairs(entries) do redis.call('UNLINK', entry) end
    commit()
    return {kept, #found == tonumber(ARGV[4]) and 1 or 0}
    """#

  /// `ARGV`: the first line, and how many lines. Answers, for each line of the index, the fields of the entry, the line,
  /// the size of the payload, and whether the entry may be gone because its time is over.
  private static let examineSource = #"""
    local found = {}
    for _, line in ipairs(redis.call('ZRANGEBYLEX', keys, ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
      local key = string.match(line, '^%S+')
      local type = redis.call('TYPE', prefix .. key).ok
      local isEntry = type == 'hash' or type == 'none'
      -- What is of another type has no fields that could be read, but is there.
      local entry = isEntry and redis.call('HMGET', prefix .. key, 'storedAt', 'freshUntil', 'retainUntil',
        'contentType', 'attributes', 'checksum') or {'', '', '', '', '', ''}
      local over = redis.call('ZSCORE', expiry, key)
      entry[7], entry[8] = line, isEntry and redis.call('HSTRLEN', prefix .. key, 'payload') or 0
      entry[9] = over and tonumber(over) <= now and 1 or 0
      found[#found + 1] = entry
    end
    return found
    """#
}
