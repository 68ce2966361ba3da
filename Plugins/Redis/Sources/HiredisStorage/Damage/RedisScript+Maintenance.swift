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
        local tail = redis.pcall('GETRANGE', prefix .. key, -38, -1)
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
}
