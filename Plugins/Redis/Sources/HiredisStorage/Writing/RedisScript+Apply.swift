extension RedisScript {
  /// The most keys in a message: of more changes it only says that there are some.
  static let mostPublished = 200

  /// A function that tells the followers of the store which entries have changed: the publisher, and the keys or "*",
  /// separated by spaces. Without a publisher it does nothing.
  ///
  /// A user who may not publish can still write, and it works without memory: it is no write.
  static let publishSource = #"""
    local function publish(publisher, changed)
      if publisher == '' or #changed == 0 then return end
      local text = #changed > \#(mostPublished) and '*' or table.concat(changed, ' ')
      redis.pcall('PUBLISH', prefix .. 'changes', publisher .. ' ' .. text)
    end

    """#

  /// `ARGV`: "apply", or "check" to change nothing; the batch's name or nothing, and for how long to remember it; the
  /// bounds (entries or nothing, bytes, exempt namespace) and what the other parts hold (entries, bytes); the numbers
  /// of requirements, of puts and of removals; the name of an earlier batch of this writer that the server may forget,
  /// or nothing; what to evict by, and two times (see `evictSource`), or nothing; the publisher or nothing; a checksum or
  /// nothing for each requirement; payload and fields for each put. `KEYS`, after the tables: the entries in the same
  /// order.
  ///
  /// Returns "done", "conflict" with the number of the requirement, or "over"; then what this part would hold (entries,
  /// bytes, without the exempt namespace, and without evictions), whether there are more expired entries to forget, and
  /// how many unexpired entries were evicted.
  static let applySource = #"""
    local mode, batch = ARGV[1], ARGV[2]
    -- First of all: what was done must not fail, such as for want of room, because it is asked for again.
    if batch ~= '' and redis.call('ZSCORE', expiry, ' ' .. batch) then return {'done', '0', '0', 0, 0} end
    local required, put, removed = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
    local more = sweep(\#(sweepLimit), put)
    lifetime = tonumber(ARGV[3])
    local function isChecksum(text)
      return type(text) == 'string' and #text == 16 and not string.find(text, '%X')
    end
    local name, argument = 4, 16

    for index = 1, required do
      local found = redis.pcall('HGET', KEYS[name + index], 'checksum')
      if type(found) == 'table' and not isWrongType(found) then return found end
      -- What is there without a checksum has 0, as in a scan.
      if not found and redis.call('EXISTS', KEYS[name + index]) == 1 or found and not isChecksum(found) then
        found = '0000000000000000'
      end
      if string.lower(found or '') ~= ARGV[argument + index] then return {'conflict', tostring(index), '0', 0, 0} end
    end
    name, argument = name + required, argument + required

    local lines, ends, foreign, changed = {}, {}, {}, {}
    for index = name + 1, #KEYS do changed[#changed + 1] = string.sub(KEYS[index], #prefix + 1) end
    for index = 1, put do
      local at = argument + (index - 1) * 7
      local key = changed[index]
      local fresh = text(math.floor(tonumber(ARGV[at + 3]) / 1048576))
      local retain = text(math.floor(tonumber(ARGV[at + 4]) / 1048576))
      local bytes = #ARGV[at + 1]
      local kind = redis.call('TYPE', KEYS[name + index]).ok
      if kind ~= 'hash' and kind ~= 'none' then
        -- In the place of an entry it is damage, and goes. A key that was never an entry is another program's: fails here.
        if not linesOf(key)[1] then redis.call('HEXISTS', KEYS[name + index], 'payload') end
        foreign[index] = true
      end
      drop(key)
      countEntry(key, fresh, retain, 1, bytes)
      lines[index] = key .. ' ' .. fresh .. ' ' .. retain .. ' ' .. text(bytes)
      ends[index] = tonumber(ARGV[at + 4])
      if ends[index] <= now then ends[index] = now + 60000 end
    end
    for index = 1, removed do drop(changed[put + index]) end

    local entries, bytes = tonumber(ARGV[7]), tonumber(ARGV[8])
    if mode == 'check' or ARGV[4] ~= '' then
      local all = redis.call('HGETALL', totals)
      for index = 1, #all, 2 do
        if all[index] ~= ARGV[6] then
          local there, size = parse(all[index + 1])
          entries, bytes = entries + there, bytes + size
        end
      end
      for field, change in pairs(counts) do
        if field ~= ARGV[6] and not string.find(field, ' ', 1, true) then
          entries, bytes = entries + change[1], bytes + change[2]
        end
      end
    end
    local gone, evicted = {}, 0
    if ARGV[4] ~= '' and (entries > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) then
      gone = nil
      -- What has expired by the server's clock is forgotten first, all of it.
      if ARGV[13] ~= '' and not more then
        local own = {}
        for index = 5, #KEYS do own[KEYS[index]] = true end
        gone, evicted = victims(entries - tonumber(ARGV[4]), bytes - tonumber(ARGV[5]), entries, bytes, own)
      end
      if not gone then return {'over', text(entries), text(bytes), more and 1 or 0, 0} end
      for _, victim in ipairs(gone) do dropLine(victim.line) end
    end
    if mode == 'check' then return {'done', text(entries), text(bytes), more and 1 or 0, 0} end

    for index = 1, put do
      local at, entry = argument + (index - 1) * 7, KEYS[name + index]
      if foreign[index] then redis.call('UNLINK', entry) end
      redis.call('HSET', entry, 'payload', ARGV[at + 1], 'storedAt', ARGV[at + 2], 'freshUntil', ARGV[at + 3],
        'retainUntil', ARGV[at + 4], 'contentType', ARGV[at + 5], 'attributes', ARGV[at + 6], 'checksum', ARGV[at + 7])
      if ends[index] >= 253402300799999 then
        redis.call('PERSIST', entry)
      else
        redis.call('PEXPIREAT', entry, text(ends[index]))
      end
      redis.call('ZADD', expiry, text(ends[index]), changed[index])
      redis.call('ZADD', keys, 0, lines[index])
      dropped[lines[index]] = nil
    end
    if put == 0 then begin() end
    if batch ~= '' then redis.call('ZADD', expiry, text(now + lifetime), ' ' .. batch) end
    for index = 1, removed do
      redis.call('UNLINK', KEYS[name + put + index])
      forgotten[#forgotten + 1] = changed[put + index]
    end
    for _, victim in ipairs(gone) do
      redis.call('UNLINK', prefix .. victim.key)
      forgotten[#forgotten + 1] = victim.key
      changed[#changed + 1] = victim.key
    end
    if batch ~= '' and ARGV[12] ~= '' then forgotten[#forgotten + 1] = ' ' .. ARGV[12] end
    -- Entries of the same counts may last longer than those before.
    if not commit() and put > 0 then keep() end
    -- The name of a batch that changed nothing must not keep an empty store for ever.
    if batch ~= '' and redis.call('ZCARD', keys) == 0 then retire() end
    publish(ARGV[16], changed)
    return {'done', text(entries), text(bytes), 0, evicted}
    """#
}
