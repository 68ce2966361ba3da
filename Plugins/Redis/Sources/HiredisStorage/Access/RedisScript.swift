/// The scripts that run on the server. Each is atomic: no other client sees the store in between.
///
/// All scripts follow these rules, so that a cluster slot may be migrated at any moment:
/// - Do every read that could fail before the first write, and add to a table before removing from it: a server that is
///   giving a slot away refuses to create a key that does not exist.
/// - Take tables as `KEYS`, so that the server refuses to start if some of them have already moved away.
enum RedisScript: Int, Sendable, CaseIterable {
  case apply, use, scan, statistics, compact, examine, tidy, rebuild, clear

  /// The script's text.
  var source: String {
    switch self {
    case .apply: Self.common + Self.publishSource + Self.evictSource + Self.applySource
    case .use: Self.common + Self.useSource
    case .scan: Self.common + Self.scanSource
    case .statistics: Self.common + Self.statisticsSource
    case .compact: Self.common + Self.compactSource
    case .examine: Self.common + Self.examineSource
    case .tidy: Self.common + Self.tidySource
    case .rebuild: Self.common + Self.rebuildSource
    case .clear: Self.common + Self.publishSource + Self.clearSource
    }
  }

  /// The most expired entries that a call forgets, so that no call blocks the server for long.
  static let sweepLimit = 500
  /// The error of a script that cannot read a tally.
  static let damagedTally = "the tally is damaged"
  /// How many random index lines a call checks for each entry that it puts, to forget the lines of entries that the
  /// server has evicted for lack of memory. If the first sample finds none, it checks no more. So the share of such
  /// lines stays around the reciprocal of this number.
  static let sampleSize = 8

  /// `counts` collects the changes to the tally, `before` its old values, `dropped` the index lines to remove.
  ///
  /// The tables of an empty store expire after `lifetime`, so that nothing is left behind.
  ///
  /// `KEYS`: the tables `keys` (the index: a line for each entry, in key order: key, slot of freshness, slot of
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
      if not entries then error('\#(damagedTally)') end
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

    local function linesOf(key)
      return redis.call('ZRANGEBYLEX', keys, '[' .. key .. ' ', '(' .. key .. '!')
    end

    local function dropLine(line)
      if dropped[line] then return end
      local key, fresh, retain, bytes = string.match(line, '^(%S+) (%d+) (%d+) (%d+)$')
      -- A line that is none was never counted.
      if key then countEntry(key, fresh, retain, -1, -tonumber(bytes)) end
      dropped[line] = true
    end

    local function drop(key)
      for _, line in ipairs(linesOf(key)) do dropLine(line) end
    end

    -- Whether the server has dropped the entry. One that is elsewhere because its slot is migrated is not gone.
    local function isGone(key) return redis.pcall('EXISTS', prefix .. key) == 0 end

    local function isWrongType(answer) return type(answer) == 'table' and answer.err and
      string.find(answer.err, 'WRONGTYPE', 1, true) end

    -- Forgets a line whose entry is gone, unless the tally cannot be read: that must not keep a reader from the rest.
    local canForget = true
    local function forget(line)
      if not canForget then return end
      if pcall(dropLine, line) then
        forgotten[#forgotten + 1] = string.match(line, '^%S*')
      else
        canForget, counts, before, dropped, forgotten = false, {}, {}, {}, {}
      end
    end

    -- Lets the names of batches go with the last of them, whichever process remembers its own for a shorter time.
    local function retire()
      local last = redis.call('ZREVRANGE', expiry, 0, 0, 'WITHSCORES')[2] or now
      redis.call('PEXPIRE', expiry, text(math.max(lifetime, last - now)))
    end

    -- Whether the server may drop a key that ends before its time; also where it does not say.
    local function evicts()
      local info = redis.pcall('INFO', 'memory')
      return type(info) ~= 'string' or not string.find(info, 'maxmemory_policy:noeviction', 1, true)
    end

    -- Where the last entry ends within three hours, the tables end a minute after it: so a store of nothing but passing
    -- entries, such as a killed benchmark leaves, expires. A server that evicts could drop such tables
    -- as it drops entries.
    local function keep()
      local last = tonumber(redis.call('ZREVRANGE', expiry, 0, 0, 'WITHSCORES')[2] or '0')
      local isNear = last > 0 and last - now < 10800000 and not evicts()
      for _, name in ipairs({keys, expiry, tally, totals}) do
        if isNear then
          redis.call('PEXPIREAT', name, text(math.max(last, now) + lifetime))
        else
          redis.call('PERSIST', name)
        end
      end
    end

    -- Calls the command with all members, as many at a time as a script may pass.
    local function remove(command, name, members)
      for first = 1, #members, 1000 do
        redis.call(command, name, unpack(members, first, math.min(first + 999, #members)))
      end
    end

    local function commit()
      local changed, empty, lines = false, {}, {}
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
          keep()
        end
      end
      for _, place in ipairs(empty) do redis.call('HDEL', place[1], place[2]) end
      for line in pairs(dropped) do lines[#lines + 1] = line end
      remove('ZREM', keys, lines)
      remove('ZREM', expiry, forgotten)
      counts, before, dropped, forgotten = {}, {}, {}, {}
      return changed
    end

    -- A server without room refuses a script's first write where it may take memory, and none after it. What only takes
    -- away begins with a write that takes none.
    local function begin() redis.call('ZREM', expiry, '') end

    -- Looks at some lines at random, and says whether one of them was to be forgotten.
    local function sample()
      local found = false
      for _, line in ipairs(redis.call('ZRANDMEMBER', keys, \#(sampleSize))) do
        local key = string.match(line, '^%S*')
        if not dropped[line] and isGone(key) then
          dropLine(line)
          forgotten[#forgotten + 1] = key
          found = true
        end
      end
      return found
    end

    local function sweep(limit, puts)
      local expired = redis.call('ZRANGEBYSCORE', expiry, '-inf', text(now), 'LIMIT', 0, limit)
      if #expired > 0 and puts == 0 then begin() end
      for _, key in ipairs(expired) do
        drop(key)
        forgotten[#forgotten + 1] = key
      end
      -- As often as single writes would look, unless the first look finds nothing.
      for look = 1, puts do
        if not sample() and look == 1 then break end
      end
      commit()
      return #expired == limit
    end

    """#

  /// `ARGV`: the first and the last line in the form of `ZRANGEBYLEX`, and the most entries to return. Returns whether
  /// there are no more; where to continue; and for each entry its fields, its key, and its size and slots according to
  /// the index.
  ///
  /// It forgets lines whose entries are gone, in steps: a call looks at 1,000 lines more than it finds entries. An
  /// entry whose key holds something of another type has no fields.
  private static let scanSource = #"""
    local from, left, found, isLast = ARGV[1], tonumber(ARGV[3]), {}, 0
    local lines = left + 1000
    while left > 0 and lines > 0 do
      local size = math.min(left, 1000)
      local page = redis.call('ZRANGEBYLEX', keys, from, ARGV[2], 'LIMIT', 0, size)
      for _, line in ipairs(page) do
        local key, fresh, retain, bytes = string.match(line, '^(%S+) (%d+) (%d+) (%d+)$')
        local entry = key and redis.pcall('HMGET', prefix .. key, 'storedAt', 'freshUntil', 'retainUntil', 'contentType',
          'attributes', 'checksum')
        if isWrongType(entry) then entry = {false, false, false, false, false, false} end
        if entry and entry.err then return entry end
        if not entry or not (entry[1] or entry[6]) and isGone(key) then
          forget(line)
        else
          entry[7], entry[8], entry[9], entry[10] = key, bytes, fresh, retain
          found[#found + 1] = entry
          left = left - 1
        end
      end
      lines = lines - #page
      if #page < size then
        isLast = 1
        break
      end
      from = '(' .. page[#page]
    end
    if next(dropped) then
      begin()
      commit()
    end
    return {isLast, from, found}
    """#

  /// Returns whether there is more to forget before counting; the tally; the memory that the tables take up; the
  /// totals.
  private static let statisticsSource = #"""
    if sweep(\#(sweepLimit), 0) then return {1} end
    local memory = 0
    for index = 1, 4 do memory = memory + (redis.call('MEMORY', 'USAGE', KEYS[index]) or 0) end
    return {0, redis.call('HGETALL', tally), memory, redis.call('HGETALL', totals)}
    """#

  /// `ARGV`: the time; the latest time at which the server drops what may have expired by then; how many lines to skip;
  /// how many to check. Returns how many of the checked lines were kept, and whether there may be more.
  private static let compactSource = #"""
    local found = redis.call('ZRANGEBYSCORE', expiry, '-inf', ARGV[2], 'LIMIT', ARGV[3], ARGV[4])
    local kept, entries = 0, {}
    for _, key in ipairs(found) do
      local retain = string.sub(key, 1, 1) ~= ' ' and redis.pcall('HGET', prefix .. key, 'retainUntil')
      -- What is there and cannot be read goes when the table says so.
      if isWrongType(retain) then retain = '0' end
      if type(retain) == 'table' then return retain end
      if string.sub(key, 1, 1) == ' ' or retain and (tonumber(retain) or 0) > tonumber(ARGV[1]) then
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

  /// `ARGV`: the first line, and the number of lines. Returns, for each index line, the fields of the entry, the line,
  /// the size of the payload, and whether the entry may be gone because it has expired.
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

  /// `ARGV`: the first line, and the number of lines. Forgets lines that are invalid or whose entries are gone. Returns
  /// how many those were, and where to continue; nothing at the end.
  private static let tidySource = #"""
    local page = redis.call('ZRANGEBYLEX', keys, ARGV[1], '+', 'LIMIT', 0, ARGV[2])
    for _, line in ipairs(page) do
      if not string.find(line, '^%S+ %d+ %d+ %d+$') or isGone(string.match(line, '^%S+')) then forget(line) end
    end
    local count = #forgotten
    if next(dropped) then
      begin()
      commit()
    end
    return {count, #page == tonumber(ARGV[2]) and '(' .. page[#page] or ''}
    """#

  /// `ARGV`: the expected number of changes, or nothing; the number of tally fields; fields and values of the tally,
  /// then of the totals. Replaces both tables with these. Returns 0 if the number of changes differs.
  private static let rebuildSource = #"""
    for _, name in ipairs({tally, totals}) do
      local kind = redis.call('TYPE', name).ok
      if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', name) end
    end
    if (redis.call('HGET', tally, 'changes') or '') ~= ARGV[1] then return 0 end
    begin()
    local function replace(name, from, to, kept)
      for index = from, to, 2 do
        kept[ARGV[index]] = true
        redis.call('HSET', name, ARGV[index], ARGV[index + 1])
      end
      for _, field in ipairs(redis.call('HKEYS', name)) do
        if not kept[field] then redis.call('HDEL', name, field) end
      end
    end
    local last = 2 + 2 * tonumber(ARGV[2])
    redis.call('HSET', tally, 'format', '1')
    -- What is no number is begun anew.
    if not pcall(redis.call, 'HINCRBY', tally, 'changes', 1) then redis.call('HSET', tally, 'changes', '1') end
    replace(tally, 3, last, {format = true, changes = true})
    replace(totals, last + 1, #ARGV, {})
    if redis.call('ZCARD', keys) == 0 then
      redis.call('PEXPIRE', tally, lifetime)
      retire()
    else
      keep()
    end
    return 1
    """#

  /// Removes up to 1,000 entries in the index, and as many that only the expiry table names. If there are no more, it
  /// removes the tables, even those of another type. Returns whether there are more in the tables.
  ///
  /// `ARGV`: the publisher; nothing more, or keys: then it only removes those entries under the keys that the index does
  /// not name.
  private static let clearSource = #"""
    if #ARGV > 1 then
      local lost = {}
      for index = 2, #ARGV do
        if #linesOf(ARGV[index]) == 0 then lost[#lost + 1] = ARGV[index] end
      end
      for _, key in ipairs(lost) do redis.call('UNLINK', prefix .. key) end
      publish(ARGV[1], lost)
      return 0
    end
    local more, removed = 0, {}
    for _, name in ipairs({keys, expiry}) do
      local page = redis.call('TYPE', name).ok == 'zset' and redis.call('ZRANGE', name, 0, 999) or {}
      for _, member in ipairs(page) do
        -- What begins with a space is the name of a batch.
        local key = string.match(member, '^[^ ]+')
        if key then
          redis.call('UNLINK', prefix .. key)
          removed[#removed + 1] = key
        end
        redis.call('ZREM', name, member)
      end
      if #page == 1000 then more = 1 end
    end
    if more == 0 then redis.call('UNLINK', keys, expiry, tally, totals) end
    publish(ARGV[1], removed)
    return more
    """#
}
