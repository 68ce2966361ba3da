extension RedisScript {
  /// `ARGV`: the prefix of all keys; the tags of the parts, or nothing if there is one part; the first and the last line
  /// in the form of `ZRANGEBYLEX`, and the most lines of each part. Returns the lines, and the last line of each part
  /// that may have more.
  static let linesSource = #"""
    local found, last = {}, {}
    local function look(base)
      local page = redis.call('ZRANGEBYLEX', base .. 'index', ARGV[3], ARGV[4], 'LIMIT', 0, ARGV[5])
      for _, line in ipairs(page) do found[#found + 1] = line end
      if #page == tonumber(ARGV[5]) then last[#last + 1] = page[#page] end
    end
    if ARGV[2] == '' then look(ARGV[1]) end
    for at = 1, #ARGV[2], 3 do look(ARGV[1] .. '{' .. string.sub(ARGV[2], at, at + 2) .. '}:') end
    return {found, last}
    """#

  /// `ARGV`: how many bytes at the end of an entry to return at first; then pairs of a part's prefix and a line. Returns
  /// for each the end of the entry, with the attributes and the content type; "" for one with the key of another type;
  /// nothing for one that is gone. It forgets the lines of those.
  static let headsSource = #"""
    local found, gone = {}, {}
    for at = 2, #ARGV, 2 do
      local key = string.match(ARGV[at + 1], '^%S*')
      local name = ARGV[at] .. key
      local tail = redis.pcall('GETRANGE', name, -tonumber(ARGV[1]), -1)
      if isWrongType(tail) then
        tail = ''
      elseif type(tail) == 'table' then
        return tail
      elseif tail == '' and redis.call('EXISTS', name) == 0 then
        tail = false
        gone[ARGV[at]] = gone[ARGV[at]] or {}
        table.insert(gone[ARGV[at]], ARGV[at + 1])
      elseif #tail >= 39 then
        local rest = 39 + number(tail, #tail - 3, #tail - 1)
        if string.byte(tail, #tail) == 3 and #tail >= 43 then rest = rest + 4 + number(tail, #tail - 42, #tail - 39) end
        if rest > #tail then tail = redis.call('GETRANGE', name, -rest, -1) end
      end
      found[#found + 1] = tail
    end
    for base, lines in pairs(gone) do
      enter(base)
      for _, line in ipairs(lines) do
        if redis.call('ZSCORE', index, line) then forget(line) end
      end
      if next(dropped) then
        begin()
        commit()
      end
    end
    return found
    """#

  /// `ARGV`: the prefix of all keys; the tags of the parts, or nothing if there is one part. Returns the sums of the
  /// tallies, as fields and values; the number of changes; the version of the layout or nothing; whether entries may be
  /// counted that the server has dropped.
  static let countSource = #"""
    local totals, changes, format, stale = {}, 0, false, 0
    local function look(base)
      if redis.call('EXISTS', base .. 'tally') == 0 then return end
      enter(base)
      sweep()
      if next(sums) then
        begin()
        commit()
      end
      local all = redis.call('HGETALL', tally)
      for at = 1, #all, 2 do
        local name, value = all[at], all[at + 1]
        if name == 'changes' then
          changes = changes + (tonumber(value) or 0)
        elseif name == 'format' then
          format = math.max(format or 0, tonumber(value) or 0)
        elseif name ~= 'swept' and name ~= 'ends' and string.sub(name, 1, 1) ~= '@' then
          local entries, bytes = parse(value)
          local total = totals[name] or {0, 0}
          totals[name] = {total[1] + entries, total[2] + bytes}
          local ending = string.match(name, '^%S+ %d+ .-(%d+)$')
          if ending and tonumber(ending) <= current then stale = 1 end
        end
      end
    end
    if ARGV[2] == '' then look(ARGV[1]) end
    for at = 1, #ARGV[2], 3 do look(ARGV[1] .. '{' .. string.sub(ARGV[2], at, at + 2) .. '}:') end
    local fields = {}
    for name, total in pairs(totals) do
      fields[#fields + 1] = name
      fields[#fields + 1] = text(total[1]) .. ' ' .. text(total[2])
    end
    return {fields, text(changes), format and text(format), stale}
    """#

  /// `ARGV`: the first line, and the number of lines. Returns for each the line; the end of the entry, "" for one with
  /// the key of another type, nothing for one that is gone; the payload's size, or -1 if it cannot be told; and whether
  /// the entry may be gone because it has ended.
  static let examineSource = #"""
    local found = {}
    for _, line in ipairs(redis.call('ZRANGEBYLEX', index, ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
      local key, _, _, ending = split(line)
      local name = prefix .. string.match(line, '^%S*')
      local tail, size = redis.pcall('GETRANGE', name, -\#(RedisEntry.usualLength), -1), -1
      if isWrongType(tail) then
        tail = ''
      elseif type(tail) == 'table' then
        return tail
      elseif tail == '' and redis.call('EXISTS', name) == 0 then
        tail = false
      elseif #tail >= 39 and isTail(string.sub(tail, -39)) then
        local length = redis.call('STRLEN', name)
        size = payloadBytes(name, length, string.sub(tail, -39)) or -1
        if size >= 0 and length - size > #tail then tail = redis.call('GETRANGE', name, size, -1) end
      end
      found[#found + 1] = {line, tail, size, key and ending <= current and 1 or 0}
    end
    return found
    """#
}
