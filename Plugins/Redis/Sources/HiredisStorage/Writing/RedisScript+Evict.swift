extension RedisScript {
  /// How many entries are looked at for each one that goes. The best third of a large sample is on average as good as the
  /// best one of five, one at a time.
  static let samplesPerVictim = 3
  /// How many entries are looked at at least: a part of no more is ranked as a whole.
  static let smallestSample = 96
  /// The most entries that go beyond the need, so that not each batch has to choose.
  static let mostSpare = 31
  /// The most entries that one call evicts, so that no call blocks the server for long.
  static let mostVictims = 1_000

  /// A function for `applySource`: which entries go to make room for a batch.
  ///
  /// Its arguments: how many entries and bytes are too many, how many the part would hold, and a table of the names of
  /// the entries that the batch is about. Uses `ARGV`: the order, as the text of an `EvictionOrder`; the time, and the
  /// latest time of storing or use that is possible by then.
  ///
  /// Returns the victims, as tables of `key` and `line`, and how many of them had not expired; nothing if it found too
  /// little that may go. It changes nothing.
  static let evictSource = #"""
    local function victims(excess, excessBytes, held, heldBytes, own)
      local spare = math.min(\#(mostSpare), math.floor(held / 64))
      local wanted = math.max(excess, math.ceil(excessBytes * held / math.max(heldBytes, 1))) + spare
      if wanted > \#(mostVictims) then return end
      local clock, latest, exempt = tonumber(ARGV[14]), tonumber(ARGV[15]), ARGV[7]
      local terms, seen, candidates = {}, {}, {}
      local function isExempt(key) return exempt ~= '' and string.find(key, exempt .. '/', 1, true) == 1 end
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
        local key, retain, size, late = string.match(line, '^(%S+) %x+ (%x+) (%x+) ?(%x*)$')
        if not key or seen[line] or dropped[line] or isExempt(key) then return end
        local name = prefix .. key
        if own[name] then return end
        seen[line] = true
        local tail = redis.pcall('GETRANGE', name, '-39', '-1')
        if type(tail) ~= 'string' then return end
        -- Evicting an entry that is no longer counted frees no room.
        if tonumber(late ~= '' and late or retain, 16) < swept then
          if tail == '' and isGone(key) then dropLine(line) end
          return
        end
        local candidate = {0, 0, 0, 0, key = key, line = line, bytes = tonumber(size, 16)}
        if tail ~= '' or not isGone(key) then
          -- What is damaged stays, for those who repair.
          if not isTail(tail) then return end
          local stored, retain = number(tail, 1, 6), number(tail, 13, 18)
          if retain <= clock then
            candidate[1], candidate[2], candidate[3] = 1, retain, stored
          else
            local used, uses = time(number(tail, 27, 32)), number(tail, 33, 35)
            candidate[1], stored = 2, time(stored)
            for at, term in ipairs(terms) do
              candidate[at + 1] = term[1] * term[2](stored, used, uses, candidate.bytes, retain)
            end
          end
        end
        candidates[#candidates + 1] = candidate
      end

      local function goesBefore(left, right)
        if left[1] ~= right[1] then return left[1] < right[1] end
        if left[2] ~= right[2] then return left[2] < right[2] end
        if left[3] ~= right[3] then return left[3] < right[3] end
        if left[4] ~= right[4] then return left[4] < right[4] end
        return left.key < right.key
      end

      for sign, field in string.gmatch(ARGV[13], '(%-?)(%S+)') do
        terms[#terms + 1] = {sign == '-' and -1 or 1, fields[field]}
      end
      local size = math.max(\#(smallestSample), \#(samplesPerVictim) * wanted)
      local lines = redis.call('ZCARD', index)
      local isWhole = lines <= size
      -- A negative count allows repeats, which is four times as fast.
      for _, line in ipairs(redis.call('ZRANDMEMBER', index, lines <= 2 * size and size or -size)) do consider(line) end
      table.sort(candidates, goesBefore)

      local chosen, unexpired = {}, 0
      for at, entry in ipairs(candidates) do
        local isBeyondSample = not isWhole and at * \#(samplesPerVictim) > #candidates
        if excess <= 0 and excessBytes <= 0 then
          if spare == 0 or at * \#(samplesPerVictim) > #candidates then break end
          spare = spare - 1
        elseif isBeyondSample or at > \#(mostVictims) then
          -- What is left of the sample may be in use: the core looks at more.
          return
        end
        chosen[at] = entry
        if entry[1] == 2 then unexpired = unexpired + 1 end
        excess, excessBytes = excess - 1, excessBytes - entry.bytes
      end
      if excess <= 0 and excessBytes <= 0 then return chosen, unexpired end
    end

    """#

  /// `KEYS`, after the tables: entries. `ARGV`: for each the time of its last use, and the number of uses to add.
  static let useSource = #"""
    local function bytes(number, count)
      local text = ''
      for _ = 1, count do
        text = string.char(number % 256) .. text
        number = math.floor(number / 256)
      end
      return text
    end

    for at = 1, #KEYS - 2 do
      local entry = KEYS[2 + at]
      local tail = redis.pcall('GETRANGE', entry, -39, -1)
      if type(tail) == 'string' and isTail(tail) then
        local last = math.max(number(tail, 27, 32), tonumber(ARGV[2 * at - 1]))
        local uses = math.min(number(tail, 33, 35) + tonumber(ARGV[2 * at]), 16777215)
        redis.call('SETRANGE', entry, redis.call('STRLEN', entry) - 13, bytes(last, 6) .. bytes(uses, 3))
      end
    end
    return 0
    """#
}
