/// The scripts for a store without tables.
extension RedisScript {
  /// `ARGV`: the prefix of all keys; the writer and the number of its batch, and for how many milliseconds to remember
  /// them; the numbers of requirements, of puts and of removals; the publisher; for each requirement a checksum or nothing;
  /// for each put the entry, and when it ends. `KEYS`: what remembers the writer's batch, then the entries in the same
  /// order.
  ///
  /// Returns what the script of a store with tables does; nothing is counted.
  static let storeSource = #"""
    enter(ARGV[1])
    local required, put, removed = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
    local latest = tonumber(redis.call('GET', KEYS[1]) or '0')
    if latest >= tonumber(ARGV[3]) then return {'done', '0', '0', 0} end
    local unmet = firstUnmet(required, 1, 8)
    if type(unmet) == 'table' then return unmet end
    if unmet then return {'conflict', tostring(unmet), '0', 0} end

    local before, changed = 1 + required, {}
    if put == 0 then begin() end
    for at = 1, put do
      local place, entry = 8 + required + at * 2, KEYS[before + at]
      local ending = tonumber(ARGV[place])
      if ARGV[place] == '253402300799999' then
        redis.call('SET', entry, ARGV[place - 1])
      else
        redis.call('SET', entry, ARGV[place - 1], 'PXAT', ending > now and ARGV[place] or text(now + 60000))
      end
    end
    for at = 1, removed do redis.call('UNLINK', KEYS[before + put + at]) end
    if put > 0 then redis.pcall('SET', prefix .. 'evicting', '1') end
    -- After the changes, because it may fail for lack of memory; by then the batch has been applied.
    redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
    for at = 1, put + removed do changed[at] = string.sub(KEYS[before + at], #prefix + 1) end
    publish(ARGV[8], changed)
    return {'done', '0', '0', 0}
    """#

  /// `KEYS`: entries. `ARGV`: how many bytes at the end of an entry to read at first. Returns for each the end of the entry,
  /// "" for one with the key of another type, nothing for one that is gone; and its length.
  static let endsSource = #"""
    local found = {}
    for at, entry in ipairs(KEYS) do
      local tail = endOf(entry, tonumber(ARGV[1]))
      if type(tail) == 'table' then return tail end
      found[at] = {tail, tail and tail ~= '' and redis.call('STRLEN', entry) or 0}
    end
    return found
    """#
}
