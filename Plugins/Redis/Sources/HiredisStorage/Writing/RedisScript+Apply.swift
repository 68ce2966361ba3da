extension RedisScript {
  /// The most keys in a message: of more changes it only says that there are some.
  static let mostPublished = 200
  /// How many random lines of the index to check at a time, to forget those whose entries are gone.
  static let sampleSize = 16
  /// One put in so many takes a sample, and so many puts in a batch.
  static let putsPerSample = 32
  /// The most samples for each one that is due: as long as a quarter of one is to be forgotten, another one follows.
  static let mostSamples = 8

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

  /// A function that forgets some lines whose entries the server has dropped. So these stay a quarter of the lines at
  /// most.
  static let sampleSource = #"""
    local function takeSamples(due)
      local left = \#(mostSamples)
      while due > 0 do
        local lines, names, found = redis.call('ZRANDMEMBER', index, \#(sampleSize)), {}, 0
        for at, line in ipairs(lines) do names[at] = prefix .. string.match(line, '^%S*') end
        local there = #lines > 0 and redis.pcall('EXISTS', unpack(names))
        if type(there) ~= 'number' then return end
        for at, line in ipairs(there < #lines and lines or {}) do
          if dropped[line] or isGone(string.sub(names[at], #prefix + 1)) then
            dropLine(line)
            found = found + 1
          end
        end
        left = left - 1
        if found * 4 < #lines or left == 0 then
          -- The others that are due would find no more.
          if found == 0 then return end
          due, left = due - 1, \#(mostSamples)
        end
      end
    end

    """#

  /// A function that looks for a requirement that does not hold: it returns the number of the first one, a table if that is
  /// an error, nothing if all of them hold. Its arguments: how many requirements there are, and what is before them in
  /// `KEYS` and in `ARGV`.
  static let requirementSource = #"""
    local function firstUnmet(required, keys, arguments)
      for at = 1, required do
        local entry, wanted, checksum = KEYS[keys + at], ARGV[arguments + at], ''
        local found = redis.pcall('GETRANGE', entry, -38, -1)
        if type(found) == 'table' and not isWrongType(found) then
          return found
        elseif found ~= '' or redis.call('EXISTS', entry) == 1 then
          -- A damaged entry has the checksum 0, as in a listing.
          checksum = type(found) == 'string' and isTail(found) and string.sub(found, 19, 26) or '\0\0\0\0\0\0\0\0'
        end
        if checksum ~= wanted then return at end
      end
    end

    """#

  /// `ARGV`: "apply", or "sample" to forget some lines as well whose entries the server has dropped, or "check" to change
  /// nothing; the writer and the number of its batch, or nothing, and for how long
  /// to remember them; the bounds (entries or nothing, bytes, exempt namespace) and what all parts hold (entries and bytes,
  /// or nothing if this is the only one); the numbers of requirements, of puts and of removals; the publisher or nothing; for each requirement a checksum or nothing; for each put the entry, the slots of its times and its payload's size as in its line, and when it ends. `KEYS`, after
  /// the tables: the entries in the same order.
  ///
  /// Returns "done", "conflict" with the number of the requirement, or "over"; then by how much the part grows (entries,
  /// bytes, without the exempt namespace), and whether entries may still be counted that the server has dropped.
  static let applySource = #"""
    local mode, batch, exempt = ARGV[1], '@' .. ARGV[2], ARGV[7] ~= '' and ARGV[7] .. '/'
    local required, put, removed = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
    -- What is before the first put in KEYS and in ARGV.
    local before, argument = 2 + required, 13 + required
    local changed, namespaces, names, wanted = {}, {}, {}, {'format', 'swept', 'changes', 'ends', '*', batch, exempt or nil}
    local function want(name)
      if known[name] == nil then
        known[name] = false
        wanted[#wanted + 1] = name
      end
    end
    for at = 1, put + removed do changed[at] = string.sub(KEYS[before + at], #prefix + 1) end
    for at = 1, put do
      local namespace = string.match(changed[at], '^[^/]*')
      namespaces[at], names[at] = namespace, namespace .. ' ' .. ARGV[argument + at * 4 - 2]
      want(namespace .. '/')
      want(names[at])
    end
    load(wanted)
    if known.format and known.format ~= '1' then return redis.error_reply('ERR \#(otherFormat)') end
    -- First of all: what was done must not fail, such as for want of room, because it is asked for again.
    local latest = ARGV[2] ~= '' and known[batch] and tonumber(string.match(known[batch], '^%d+'))
    if latest and latest >= tonumber(ARGV[3]) then return {'done', '0', '0', 0} end
    lifetime = tonumber(ARGV[4])
    sweep(batch)

    local unmet = firstUnmet(required, 2, 13)
    if type(unmet) == 'table' then return unmet end
    if unmet then return {'conflict', tostring(unmet), '0', 0} end

    local lines, ends, last = {}, {}, nil
    -- How much the part holds outside the exempt namespace.
    local function held()
      local all = sum('*')
      if not exempt then return all[1], all[2] end
      local others = sum(exempt)
      return all[1] - others[1], all[2] - others[2]
    end
    local entriesBefore, bytesBefore = held()
    for at = 1, put do
      local place, key, entry = argument + (at - 1) * 4, changed[at], KEYS[before + at]
      local found, former = redis.pcall('GETRANGE', entry, '-38', '-1'), linesOf(key)
      if type(found) == 'table' then
        -- In the place of an entry it is damage, and goes. A key that was never an entry is another program's.
        if not isWrongType(found) then return found end
        if not former[1] then return redis.error_reply('WRONGTYPE \#(foreignEntry)') end
      elseif not isTail(found) and found ~= '' and not former[1] then
        return redis.error_reply('WRONGTYPE \#(foreignEntry)')
      end
      for _, line in ipairs(former) do dropLine(line) end
      ends[at] = ARGV[place + 4]
      local ending, late = tonumber(ends[at]), ''
      local slot = math.floor(ending / 1048576)
      if ending <= now then
        ending = now + 60000
        ends[at] = text(ending)
      end
      -- If the server's clock used to be ahead, the tally has already dropped this slot: count the entry in a later one.
      local endSlot = math.max(math.floor(ending / 1048576), swept)
      if endSlot ~= slot then
        late = string.format(' %x', endSlot)
        names[at] = names[at] .. late
      end
      last = math.max(last or 0, ending)
      countEntry(namespaces[at], names[at], 1, tonumber(ARGV[place + 3], 16))
      lines[at] = key .. ' ' .. ARGV[place + 2] .. ' ' .. ARGV[place + 3] .. late
    end
    for at = 1, removed do
      for _, line in ipairs(linesOf(changed[put + at])) do dropLine(line) end
    end
    if mode == 'sample' then takeSamples(math.ceil(put / \#(putsPerSample))) end

    local here, size = held()
    local growth, bytesGrowth = here - entriesBefore, size - bytesBefore
    local entries = ARGV[8] == '' and here or tonumber(ARGV[8]) + growth
    local bytes = ARGV[8] == '' and size or tonumber(ARGV[9]) + bytesGrowth
    if ARGV[5] ~= '' and (entries > tonumber(ARGV[5]) or bytes > tonumber(ARGV[6])) then
      local all, stale = redis.call('HGETALL', tally), 0
      for at = 1, #all, 2 do
        local ending = endingOf(all[at])
        if ending and ending <= current then stale = 1 end
      end
      return {'over', text(growth), text(bytesGrowth), stale}
    end
    if mode == 'check' then return {'done', text(growth), text(bytesGrowth), 0} end

    if put == 0 then begin() end
    for at = 1, put do
      local value, entry = ARGV[argument + at * 4 - 3], KEYS[before + at]
      if ends[at] == '253402300799999' then
        redis.call('SET', entry, value)
      else
        redis.call('SET', entry, value, 'PXAT', ends[at])
      end
      if dropped[lines[at]] then dropped[lines[at]] = nil else redis.call('ZADD', index, '0', lines[at]) end
    end
    for at = 1, removed do redis.call('UNLINK', KEYS[before + put + at]) end
    commit(ARGV[2] ~= '' and {batch, ARGV[3] .. ' ' .. math.ceil((now + lifetime) / 1000)} or nil, last)
    publish(ARGV[13], changed)
    return {'done', text(growth), text(bytesGrowth), 0}
    """#
}
