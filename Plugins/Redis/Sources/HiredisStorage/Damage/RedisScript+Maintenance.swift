extension RedisScript {
  /// `ARGV`: the first line, and the number of lines; the time, or nothing; the publisher, or nothing. Forgets lines that
  /// are invalid or whose entries are gone, and removes entries that have expired at that time. Returns how many those
  /// were, and where to continue; nothing at the end.
  static let tidySource = #"""
    local page = redis.call('ZRANGEBYLEX', index, ARGV[1], '+', 'LIMIT', 0, ARGV[2])
    if page[1] and redis.call('EXISTS', tally) == 0 then error('\#(lostTally)') end
    local isReadable, mayChange = pcall(isCurrent)
    if isReadable and not mayChange then return redis.error_reply('ERR \#(otherFormat)') end
    local slot = ARGV[3] ~= '' and math.floor(tonumber(ARGV[3]) / 1048576)
    local expired = {}
    for _, line in ipairs(page) do
      local key, _, _, _, retainSlot = split(line)
      if not key or isGone(key) then
        forget(line)
      elseif slot and retainSlot <= slot then
        local tail = redis.pcall('GETRANGE', prefix .. key, -39, -1)
        -- What is damaged goes when its line says so.
        local isOver = isWrongType(tail) or type(tail) == 'string'
          and (not isTail(tail) or number(tail, 13, 18) <= tonumber(ARGV[3]))
        if isOver and forget(line) then expired[#expired + 1] = key end
      end
    end
    local count = 0
    if next(dropped) then
      for _ in pairs(dropped) do count = count + 1 end
      begin()
      for _, key in ipairs(expired) do redis.call('UNLINK', prefix .. key) end
      commit()
      publish(ARGV[4], expired)
    end
    return {count, #page == tonumber(ARGV[2]) and '(' .. page[#page] or ''}
    """#

  /// `ARGV`: the expected number of changes, or nothing; fields and values of the tally. Replaces the counts with these.
  /// Returns 0 if the number of changes differs.
  static let rebuildSource = #"""
    local kind = redis.call('TYPE', tally).ok
    if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', tally) end
    if (redis.call('HGET', tally, 'changes') or '') ~= ARGV[1] then return 0 end
    begin()
    local kept = {format = true, changes = true, ends = true, swept = true}
    for at = 2, #ARGV, 2 do
      kept[ARGV[at]] = true
      redis.call('HSET', tally, ARGV[at], ARGV[at + 1])
    end
    redis.call('HSET', tally, 'format', '2', 'changes', text((tonumber(ARGV[1]) or 0) + 1), 'swept', '0')
    for _, name in ipairs(redis.call('HKEYS', tally)) do
      if not kept[name] and string.sub(name, 1, 1) ~= '@' then redis.call('HDEL', tally, name) end
    end
    if redis.call('ZCARD', index) == 0 then
      redis.call('HDEL', tally, 'ends')
      retire()
    else
      -- When the last entry ends is not known.
      redis.call('HSET', tally, 'ends', '253402300799999')
      redis.call('PERSIST', tally)
      redis.call('PERSIST', index)
    end
    return 1
    """#

  /// `ARGV`: a key, a line and a checksum. Adds the line if the entry has that checksum and no line yet, and returns whether
  /// it did. It leaves the counts alone.
  static let relistSource = #"""
    local tail = redis.pcall('GETRANGE', prefix .. ARGV[1], -39, -1)
    if type(tail) ~= 'string' or not isTail(tail) or string.sub(tail, 19, 26) ~= ARGV[3] then return 0 end
    if linesOf(ARGV[1])[1] then return 0 end
    local changes = field('changes')
    redis.call('ZADD', index, 0, ARGV[2])
    if changes then redis.call('HSET', tally, 'changes', text((tonumber(changes) or 0) + 1)) end
    -- Without lines the store looked empty, and its tables may have been about to expire.
    redis.call('PERSIST', index)
    redis.call('PERSIST', tally)
    return 1
    """#

  /// Removes up to 1,000 entries in the index. If there are no more, it removes the tables, even those of another type.
  /// Returns whether there are more in the index.
  ///
  /// `ARGV`: the publisher; nothing more, or keys: then it only removes those entries under the keys that the index does
  /// not name.
  static let clearSource = #"""
    local removed, more = {}, 0
    if #ARGV > 1 then
      for at = 2, #ARGV do
        if #linesOf(ARGV[at]) == 0 then removed[#removed + 1] = ARGV[at] end
      end
    else
      local page = redis.call('TYPE', index).ok == 'zset' and redis.call('ZRANGE', index, 0, 999) or {}
      for at, line in ipairs(page) do removed[at] = string.match(line, '^%S*') end
      if #page == 1000 then
        more = 1
        -- What is left is counted meanwhile, unless the tally cannot be read.
        for _, line in ipairs(page) do forget(line) end
        if not settle() then redis.call('ZREM', index, unpack(page)) end
      else
        redis.call('UNLINK', index, tally)
      end
    end
    for _, key in ipairs(removed) do redis.call('UNLINK', prefix .. key) end
    publish(ARGV[1], removed)
    return more
    """#

  /// For an upgrade on one server, where both versions have a tally of the same name. `KEYS`: the tally. Removes that of
  /// the first version.
  static let upgradeSource = #"""
    if redis.pcall('HGET', KEYS[1], 'format') == '1' then redis.call('UNLINK', KEYS[1]) end
    return 0
    """#

  /// For an upgrade. `KEYS`: a part's index of the first version. `ARGV`: the prefix of the part's keys; the most entries,
  /// and the most bytes of their payloads, unless the first entry alone has more. Returns for each the line, the key, and
  /// the fields in the order of the first version, or none if it is damaged.
  static let formerSource = #"""
    local found, bytes = {}, 0
    for _, line in ipairs(redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)) do
      local key = string.match(line, '^%S*')
      local length = redis.pcall('HSTRLEN', ARGV[1] .. key, 'payload')
      bytes = bytes + (type(length) == 'number' and length or 0)
      if found[1] and bytes > tonumber(ARGV[3]) then break end
      local entry = redis.pcall('HMGET', ARGV[1] .. key, 'payload', 'storedAt', 'freshUntil', 'retainUntil',
        'contentType', 'attributes', 'checksum')
      found[#found + 1] = {line, key, entry.err and {} or entry}
    end
    return found
    """#

  /// For an upgrade. `KEYS`: the tables of a part of the first version. `ARGV`: the prefix of the part's keys; lines.
  /// Removes these and their entries, and after the last one the tables, but not what the second version has there.
  /// Returns whether there are more lines.
  static let retireSource = #"""
    for at = 2, #ARGV do
      local name = ARGV[1] .. string.match(ARGV[at], '^%S*')
      redis.call('ZREM', KEYS[1], ARGV[at])
      if redis.call('TYPE', name).ok == 'hash' then redis.call('UNLINK', name) end
    end
    if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
    redis.call('UNLINK', KEYS[2], KEYS[4])
    if redis.pcall('HGET', KEYS[3], 'format') == '1' then redis.call('UNLINK', KEYS[3]) end
    return 0
    """#
}
