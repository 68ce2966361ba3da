extension RedisScript {
  /// Stores one entry if there is nothing to do but store and count it, in less time than `apply`, which knows all cases.
  /// Otherwise it changes nothing and returns nothing, and the client asks `apply`.
  ///
  /// `KEYS`, after the tables: the entry. `ARGV`: the value, the line, the fields that count it and its namespace, the
  /// payload's size, and when the entry ends; the field of the writer, the number of its batch, and for how many seconds to
  /// remember it; the publisher or nothing; what must be there ("any", nothing, or a checksum); the bounds (entries or
  /// nothing, and bytes) of all that the part may count, with the exempt namespace.
  ///
  /// Returns by how much the part grows (entries, bytes).
  static let putSource = #"""
    local index, tally, entry, line, namespace, name = KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[4], ARGV[3]
    local call, format, match, sub = redis.call, string.format, string.match, string.sub
    local prefix = sub(index, 1, -6)
    local key = sub(entry, #prefix + 1)

    local found, wanted = redis.pcall('GETRANGE', entry, '-38', '-1'), ARGV[11]
    if found ~= '' then
      local kind = type(found) == 'string' and #found == 38 and string.byte(found, 38)
      if kind ~= 2 and kind ~= 3 or wanted ~= 'any' and wanted ~= sub(found, 19, 26) then return end
    elseif wanted ~= 'any' and (wanted ~= '' or call('EXISTS', entry) == 1) then
      return
    end

    local lines = call('ZRANGEBYLEX', index, '[' .. key .. ' ', '(' .. key .. '!')
    local former, slots, retain, size, other = lines[1], nil, nil, nil, nil
    if lines[2] then return end
    if former then
      slots, retain, size = match(former, '^(%x+ (%x+)) (%x+)$', #key + 2)
      if not slots then return end
      other = sub(namespace, 1, -2) .. ' ' .. slots
    end

    local fields = call('HMGET', tally, 'format', 'swept', 'ends', ARGV[7], 'changes', '*', namespace, name,
      other or name)
    local seconds, ending = call('TIME')[1], tonumber(ARGV[6])
    local current = math.floor(seconds / 1048.576)
    -- A slot of time is over, or the tables must last longer.
    if fields[1] ~= '1' or tonumber(fields[2] or '') ~= current or ending > tonumber(fields[3] or '0') then return end
    if ending < seconds * 1000 + 1000 then return end
    local changes = tonumber(fields[5] or '0')
    local latest = fields[4] and tonumber(match(fields[4], '^%d+'))
    if latest and latest >= tonumber(ARGV[8]) then return end

    local function sum(at, entries, bytes)
      if not fields[at] then return entries, bytes end
      local counted, size = match(fields[at], '^(%d+) (%d+)$')
      if counted then return counted + entries, size + bytes end
    end
    -- What ended in a slot that is over is counted no longer.
    local lost = former and tonumber(retain, 16) >= current and tonumber(size, 16)
    local growth, bytes = 1, tonumber(ARGV[5])
    local left, leftBytes, here, hereBytes = 0, 0, nil, nil
    if lost and other ~= name then
      left, leftBytes = sum(9, -1, -lost)
      here, hereBytes = sum(8, 1, bytes)
    end
    if lost then growth, bytes = 0, bytes - lost end
    if not here then here, hereBytes = sum(8, growth, bytes) end
    local all, allBytes = sum(6, growth, bytes)
    local total, totalBytes = sum(7, growth, bytes)
    if not (changes and left and here and all and total) or left < 0 then return end
    if ARGV[12] ~= '' and (all > tonumber(ARGV[12]) or allBytes > tonumber(ARGV[13])) then return end

    call('SET', entry, ARGV[1], 'PXAT', ARGV[6])
    if former ~= line then
      call('ZADD', index, '0', line)
      if former then call('ZREM', index, former) end
    end
    call('HSET', tally, 'changes', format('%d', changes + 1), '*', format('%d %d', all, allBytes),
      namespace, format('%d %d', total, totalBytes), name, format('%d %d', here, hereBytes),
      ARGV[7], format('%s %d', ARGV[8], seconds + ARGV[9]))
    if lost and other ~= name then
      if left > 0 then call('HSET', tally, other, format('%d %d', left, leftBytes)) else call('HDEL', tally, other) end
    end
    if ARGV[10] ~= '' then redis.pcall('PUBLISH', prefix .. 'changes', ARGV[10] .. ' ' .. key) end
    return {growth, bytes}
    """#
}
