extension RedisScript {
  /// How many entries are looked at for each one that goes.
  static let samplesPerVictim = 5
  /// How many entries are looked at at least: a store of no more is ranked as a whole.
  static let smallestSample = 160
  /// The most entries that go beyond the need, so that not each batch has to choose.
  static let mostSpare = 31
  /// The most entries that one call evicts, so that no call blocks the server for long.
  static let mostVictims = 1_000

  /// A function for `applySource`: which entries go to make room for a batch.
  ///
  /// Its arguments: how many entries and bytes are too many, how many there would be, and a table of the names of the
  /// entries that the batch is about. Uses `ARGV`: the exempt namespace; the order, as the text of an `EvictionOrder`;
  /// the time, and the latest time of storing or use that is possible by then.
  ///
  /// Returns the victims, as tables of `key` and `line`, and how many of them had not expired; nothing if it found too
  /// little that may go. It changes nothing.
  static let evictSource = #"""
    local function victims(excess, excessBytes, held, heldBytes, own)
      local spare = math.min(\#(mostSpare), math.floor(held / 64))
      local wanted = math.max(excess, math.ceil(excessBytes * held / math.max(heldBytes, 1))) + spare
      if wanted > \#(mostVictims) then return end
      local clock, latest = tonumber(ARGV[14]), tonumber(ARGV[15])
      local terms, seen, candidates = {}, {}, {}
      -- A time ahead of the clock comes before all others.
      local function time(number) return number > latest and number - 253402300800000 or number end
      local fields = {
        ['stored-at'] = function(stored) return stored end,
        ['last-used-at'] = function(stored, used) return math.max(stored, used) end,
        ['use-count'] = function(_, _, uses) return uses end,
        ['payload-bytes'] = function(_, _, _, bytes) return bytes end,
        ['retain-until'] = function(_, _, _, _, retain) return retain end,
      }

      -- A candidate begins with the numbers that decide when it goes. What the server has evicted goes first of all.
      local function consider(line)
        local key, namespace, size = string.match(line, '^(([^/]*)%S*) %d+ %d+ (%d+)$')
        if not key or seen[line] or dropped[line] or namespace == ARGV[6] or own[prefix .. key] then return end
        seen[line] = true
        local found = redis.pcall('HMGET', prefix .. key, 'storedAt', 'retainUntil', 'use')
        if found.err then return end
        local candidate = {0, 0, 0, 0, key = key, line = line, bytes = tonumber(size)}
        if found[1] or not isGone(key) then
          local stored, retain = tonumber(found[1] or ''), tonumber(found[2] or '')
          -- What is damaged stays, for those who repair.
          if not stored or not retain or stored ~= stored or retain ~= retain then return end
          if retain <= clock then
            candidate[1], candidate[2], candidate[3] = 1, retain, stored
          else
            local used, uses = string.match(found[3] or '', '^(%d+) (%d+)$')
            stored, used = time(stored), time(tonumber(used or '0'))
            candidate[1] = 2
            for index, term in ipairs(terms) do
              candidate[index + 1] = term[1] * term[2](stored, used, tonumber(uses or '0'), candidate.bytes, retain)
            end
          end
        end
        candidates[#candidates + 1] = candidate
      end

      local function goesBefore(left, right)
        for index = 1, 4 do
          if left[index] ~= right[index] then return left[index] < right[index] end
        end
        return left.key < right.key
      end

      for sign, field in string.gmatch(ARGV[13], '(%-?)(%S+)') do
        terms[#terms + 1] = {sign == '-' and -1 or 1, fields[field]}
      end
      for _, key in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', text(clock), 'LIMIT', 0, wanted + 64)) do
        for _, line in ipairs(linesOf(key)) do consider(line) end
      end
      local size = math.max(\#(smallestSample), \#(samplesPerVictim) * wanted)
      local count = redis.call('ZCARD', keys)
      local isWhole = count <= size
      if count <= 2 * size then
        for _, line in ipairs(redis.call('ZRANDMEMBER', keys, size)) do consider(line) end
      else
        -- Four times as fast as asking for all of them at once, which takes care that none comes twice.
        for _ = 1, size do consider(redis.call('ZRANDMEMBER', keys)) end
      end
      table.sort(candidates, goesBefore)

      local chosen, unexpired = {}, 0
      for index, entry in ipairs(candidates) do
        local isBeyondSample = not isWhole and index * \#(samplesPerVictim) > #candidates
        if excess <= 0 and excessBytes <= 0 then
          if spare == 0 or index * \#(samplesPerVictim) > #candidates then break end
          spare = spare - 1
        elseif isBeyondSample or index > \#(mostVictims) then
          -- What is left of the sample may be in use: the core looks at more.
          return
        end
        chosen[index] = entry
        if entry[1] == 2 then unexpired = unexpired + 1 end
        excess, excessBytes = excess - 1, excessBytes - entry.bytes
      end
      if excess <= 0 and excessBytes <= 0 then return chosen, unexpired end
    end

    """#

  /// `KEYS`, after the tables: entries. `ARGV`: for each the time of its last use, and the number of uses to add.
  static let useSource = #"""
    for index = 1, #KEYS - 4 do
      local found = redis.pcall('HMGET', KEYS[4 + index], 'storedAt', 'use')
      if not found.err and found[1] then
        local used, uses = string.match(found[2] or '', '^(%d+) (%d+)$')
        local last = math.max(tonumber(used or '0'), tonumber(ARGV[2 * index - 1]))
        redis.call('HSET', KEYS[4 + index], 'use', text(last) .. ' ' .. text(tonumber(uses or '0') + ARGV[2 * index]))
      end
    end
    return 0
    """#
}
