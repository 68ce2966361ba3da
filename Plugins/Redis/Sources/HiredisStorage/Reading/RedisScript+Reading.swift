extension RedisScript {
  /// A function that reads the end of an entry of some length, and more if that is not all but the payload. It returns
  /// "" if the key has another type or an empty string, `false` if it is gone, a table if that is an error.
  static let endSource = #"""
    local function endOf(name, length)
      local tail = redis.pcall('GETRANGE', name, -length, -1)
      if isWrongType(tail) then return '' end
      if tail == '' then return redis.call('EXISTS', name) == 1 and '' end
      if type(tail) == 'table' or #tail < 38 then return tail end
      local rest = 38 + number(tail, #tail - 3, #tail - 1)
      if string.byte(tail, #tail) == 3 and #tail >= 42 then rest = rest + 4 + number(tail, #tail - 41, #tail - 38) end
      return rest > #tail and redis.call('GETRANGE', name, -rest, -1) or tail
    end

    """#

  /// Functions for the index of the part with the prefix `base`. `linesBetween` returns its lines by `command`, which is
  /// `ZRANGEBYLEX` or `ZREVRANGEBYLEX`, and none if the key has the wrong type. `requireLines` fails if the key has the wrong type or the index lacks lines: the tally never counts more
  /// entries than the index has lines, even if some have expired or been evicted.
  static let lossSource = #"""
    local function linesBetween(command, base, first, last, most)
      local page = redis.pcall(command, base .. 'index', first, last, 'LIMIT', 0, most)
      if not page.err then return page end
      if not string.find(page.err, 'WRONGTYPE', 1, true) then error(page) end
      return {}
    end

    local function requireLines(base)
      local lines, total = redis.call('ZCARD', base .. 'index'), redis.pcall('HGET', base .. 'tally', '*')
      local count = type(total) == 'string' and tonumber(string.match(total, '^%d+'))
      if count and count > lines then error('\#(lostLines)') end
    end

    """#

  /// For one server. `ARGV`: the command for lines, the first and the last line in its form, the most lines, and how many
  /// bytes at the end of an entry to read at first; where a range begins, how the line of its first possible key begins.
  /// Returns the lines, and for each the end of the entry, or nothing if that is gone. It forgets the lines of those.
  static let listSource = #"""
    local lines, ends = linesBetween(ARGV[1], prefix, ARGV[2], ARGV[3], ARGV[4]), {}
    -- The line of the only key that is wanted is enough; another line shows whether more follow.
    local isFound = ARGV[4] == '2' and lines[1] and string.sub(lines[1], 1, #(ARGV[6] or '')) == ARGV[6]
    if ARGV[6] and not isFound then requireLines(prefix) end
    for at, line in ipairs(lines) do
      local key = string.match(line, '^(%S+/%S*) %x')
      ends[at] = key and endOf(prefix .. key, tonumber(ARGV[5])) or false
      if type(ends[at]) == 'table' then return ends[at] end
      if key and not ends[at] then forget(line) end
    end
    settle()
    return {lines, ends}
    """#

  /// A function that calls another one with the prefix of each part. It returns the tags of the parts that are elsewhere,
  /// because their slots are being migrated, or have been; and an error, if there was another one.
  ///
  /// `ARGV`: the prefix of all keys; the tags of the parts, or nothing if there is one part.
  static let partsSource = #"""
    local function eachPart(look)
      local elsewhere = {}
      if ARGV[2] == '' then look(ARGV[1]) end
      for at = 1, #ARGV[2], 3 do
        local tag = string.sub(ARGV[2], at, at + 2)
        local isDone, why = pcall(look, ARGV[1] .. '{' .. tag .. '}:')
        if not isDone then
          why = type(why) == 'table' and why.err or why
          if not string.find(why, 'non local', 1, true) then
            -- Thrown on, an error of a command would lose its first word.
            return '', redis.error_reply(string.find(why, '^%u+ ') and why or 'ERR ' .. why)
          end
          elsewhere[#elsewhere + 1] = tag
        end
      end
      return table.concat(elsewhere)
    end

    """#

  /// For a cluster. `ARGV`, after the parts: the command for lines, the first and the last line in its form, and the most
  /// lines of each part; where a range begins, anything. Returns the lines; the last line of each part that may have more; the
  /// tags of the parts that are elsewhere.
  static let linesSource = #"""
    local found, last = {}, {}
    local elsewhere, failure = eachPart(function(base)
      local page = linesBetween(ARGV[3], base, ARGV[4], ARGV[5], ARGV[6])
      if ARGV[7] then requireLines(base) end
      for _, line in ipairs(page) do found[#found + 1] = line end
      if #page == tonumber(ARGV[6]) then last[#last + 1] = page[#page] end
    end)
    return failure or {found, last, elsewhere}
    """#

  /// `ARGV`: how many bytes at the end of an entry to read at first; then pairs of a part's prefix and a line. Returns for
  /// each the end of the entry, or nothing if that is gone. It forgets the lines of those.
  static let headsSource = #"""
    local found, gone = {}, {}
    for at = 2, #ARGV, 2 do
      local tail = endOf(ARGV[at] .. string.match(ARGV[at + 1], '^%S*'), tonumber(ARGV[1]))
      if type(tail) == 'table' then return tail end
      if not tail then
        gone[ARGV[at]] = gone[ARGV[at]] or {}
        table.insert(gone[ARGV[at]], ARGV[at + 1])
      end
      found[#found + 1] = tail
    end
    for base, lines in pairs(gone) do
      enter(base)
      for _, line in ipairs(lines) do
        if redis.call('ZSCORE', index, line) then forget(line) end
      end
      settle()
    end
    return found
    """#

  /// `ARGV`, after the parts: something to change nothing, or nothing to leave out first what ended in slots that are
  /// over. Returns the sums of the tallies, as fields and values; the number of changes; the version of the layout or
  /// nothing; whether entries may be counted that the server has dropped; the tags of the parts that are elsewhere.
  static let countSource = #"""
    local totals, changes, format, stale = {}, 0, false, 0
    local elsewhere, failure = eachPart(function(base)
      if redis.call('EXISTS', base .. 'tally') == 0 then
        if redis.call('EXISTS', base .. 'index') == 1 then error('\#(lostTally)') end
        return
      end
      enter(base)
      if ARGV[3] == '' and isCurrent() then
        sweep()
        if (next(sums) or forgotten[1]) and pcall(begin) then commit() end
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
          -- A tally that was begun anew counts less than nothing once an older entry goes.
          if entries < 0 then error('\#(lostTally)') end
          local total = totals[name] or {0, 0}
          totals[name] = {total[1] + entries, total[2] + bytes}
          local ending = endingOf(name)
          if ending and ending <= current then stale = 1 end
        end
      end
    end)
    local fields = {}
    for name, total in pairs(totals) do
      fields[#fields + 1] = name
      fields[#fields + 1] = text(total[1]) .. ' ' .. text(total[2])
    end
    return failure or {fields, text(changes), format and text(format), stale, elsewhere}
    """#

  /// How many fields of tallies `totals` goes through, before it leaves the other tallies to the next call: some ten
  /// milliseconds.
  static let mostFieldsSwept = 10_000

  /// `ARGV`, after the parts: the field of a namespace to leave out, or nothing. Returns how many entries and bytes all
  /// parts count, and the tags of the parts that are elsewhere. In parts that were not swept in this slot of time it leaves
  /// out first what has ended; not in all of them at once, because that takes time: what it counts may be too much.
  static let totalsSource = #"""
    local entries, bytes, fields = 0, 0, \#(mostFieldsSwept)
    local elsewhere, failure = eachPart(function(base)
      local found = redis.call('HMGET', base .. 'tally', 'swept', '*', ARGV[3])
      if not found[2] then return end
      if fields > 0 and (tonumber(found[1] or '0') or 0) < current then
        fields = fields - redis.call('HLEN', base .. 'tally')
        enter(base)
        if isCurrent() then
          sweep()
          found[2], found[3] = table.concat(sum('*'), ' ', 1, 2), table.concat(sum(ARGV[3]), ' ', 1, 2)
          if pcall(begin) then
            commit()
            redis.call('HSET', tally, 'swept', text(current))
          end
        end
      end
      local all, size = parse(found[2])
      local others, otherSize = parse(found[3])
      entries, bytes = entries + all - others, bytes + size - otherSize
    end)
    return failure or {text(entries), text(bytes), elsewhere}
    """#

  /// `ARGV`: the first line, and the number of lines. Returns for each the line; the end of the entry, "" for one with
  /// the key of another type, nothing for one that is gone; the payload's size, or -1 if it cannot be told; and whether
  /// the entry may be gone because it has ended.
  static let examineSource = #"""
    -- The payload's size, for an entry that ends with `tail`; nothing if it is damaged.
    local function payloadBytes(name, tail)
      local rest = 38 + number(tail, 35, 37)
      if string.byte(tail, 38) == 3 then
        rest = rest + 4 + number(redis.call('GETRANGE', name, -42, -39) .. '\0\0\0\0', 1, 4)
      end
      local length = redis.call('STRLEN', name)
      if rest <= length then return length - rest end
    end

    local found = {}
    for _, line in ipairs(redis.call('ZRANGEBYLEX', index, ARGV[1], '+', 'LIMIT', 0, ARGV[2])) do
      local key, _, _, _, _, ending = split(line)
      local name = prefix .. string.match(line, '^%S*')
      local tail, size = endOf(name, \#(RedisEntry.usualLength)), -1
      if type(tail) == 'table' then return tail end
      if tail and isTail(string.sub(tail, -38)) then size = payloadBytes(name, string.sub(tail, -38)) or -1 end
      found[#found + 1] = {line, tail, size, key and ending <= current and 1 or 0}
    end
    return found
    """#

  /// `ARGV`: how many bytes at the end of an entry to read at first; then pairs of a part's prefix and a key. Returns for
  /// each what `ends` does for an entry, or nothing for one that the index names.
  static let unlistedSource = #"""
    local found = {}
    for at = 2, #ARGV, 2 do
      enter(ARGV[at])
      local entry, tail = prefix .. ARGV[at + 1], false
      if #linesOf(ARGV[at + 1]) == 0 then tail = endOf(entry, tonumber(ARGV[1])) end
      if type(tail) == 'table' then return tail end
      found[at / 2] = {tail, tail and tail ~= '' and redis.call('STRLEN', entry) or 0}
    end
    return found
    """#
}
