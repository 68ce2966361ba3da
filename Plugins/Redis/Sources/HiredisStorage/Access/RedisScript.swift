/// The scripts that run on the server. Each is atomic: no other client sees the store in between.
///
/// All scripts follow these rules, so that a cluster slot may be migrated at any moment:
/// - Do every read that could fail before the first write, and add to a table before removing from it: a server that is
///   giving a slot away refuses to create a key that does not exist.
/// - Those that change one part take its tables as `KEYS`, so that the server refuses to start if some of them have
///   already moved away.
///
/// Those that look at all parts on a node take none: a node refuses any key that is not its own.
enum RedisScript: Int, Sendable, CaseIterable {
  case apply, list, lines, heads, count, totals, examine, tidy, clear, store, ends, put, unlisted

  /// The script's text, without indentation and comments: a server takes no more than 16 KiB from a client that it may not
  /// admit, and then closes the connection instead of saying why.
  var source: String { Self.sources[rawValue] }

  private static let sources = allCases.map { script in
    script.text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("--") }
      .joined(separator: "\n")
  }

  private var text: String {
    switch self {
    case .apply:
      Self.common + Self.publishSource + Self.requirementSource + Self.sampleSource + Self.applySource
    case .list: Self.common + Self.upkeep + Self.endSource + Self.lossSource + Self.listSource
    case .lines: Self.partsSource + Self.lossSource + Self.linesSource
    case .heads: Self.common + Self.upkeep + Self.endSource + Self.headsSource
    case .count: Self.common + Self.partsSource + Self.countSource
    case .totals: Self.common + Self.partsSource + Self.totalsSource
    case .examine: Self.common + Self.endSource + Self.examineSource
    case .tidy: Self.common + Self.upkeep + Self.publishSource + Self.tidySource
    case .clear: Self.common + Self.upkeep + Self.publishSource + Self.clearSource
    case .store: Self.common + Self.publishSource + Self.requirementSource + Self.storeSource
    case .put: Self.putSource
    case .ends: Self.common + Self.endSource + Self.endsSource
    case .unlisted: Self.common + Self.endSource + Self.unlistedSource
    }
  }

  /// The error of a script that cannot read a tally.
  static let damagedTally = "the tally is damaged"
  /// The error of a script that finds an index without its tally.
  static let lostTally = "the tally is lost"
  /// The error of a script that finds fewer lines in an index than its tally counts.
  static let lostLines = "the index is damaged"
  /// The error of a script that finds another program's key where an entry belongs.
  static let foreignEntry = "another program uses the key of an entry"
  /// The error of a script that finds a store of another version.
  static let otherFormat = "the store has another format"

  /// What the scripts share: the tables of a part, and how they change.
  ///
  /// `enter` chooses a part by the prefix of its keys. `known` has the fields of the tally as they are on the server,
  /// `sums` the counts that change, `dropped` the lines to remove from the index, `forgotten` the writers to forget. A part
  /// is committed once at most.
  ///
  /// The server drops an entry at its end. The tally goes on counting it until its slot is over, or until its line is
  /// met. Then `sweep` leaves out all of the slot, so that what the tally counts is there, but for the current slot.
  ///
  /// The tables of an empty store expire after `lifetime`, so that nothing is left behind.
  static let common = #"""
    local prefix, index, tally, known, sums, dropped, forgotten, swept
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local current = math.floor(now / 1048576)
    local lifetime = 60000

    -- A whole number as text; Lua writes large ones with an exponent.
    local function text(number) return number < 1e14 and number .. '' or string.format('%.0f', number) end

    -- Discards what has not been committed.
    local function restart() known, sums, dropped, forgotten, swept = {}, {}, {}, {}, nil end

    local function enter(base)
      prefix, index, tally = base, base .. 'index', base .. 'tally'
      restart()
    end

    if KEYS[1] then enter(string.sub(KEYS[1], 1, -6)) end

    -- Gets the fields `names` of the tally, as many at a time as a script may pass.
    local function load(names)
      for first = 1, #names, 1000 do
        local last = math.min(first + 999, #names)
        local values = redis.call('HMGET', tally, unpack(names, first, last))
        for at = first, last do known[names[at]] = values[at - first + 1] end
      end
    end

    local function field(name)
      if known[name] == nil then load({name}) end
      return known[name]
    end

    local function parse(value)
      if not value then return 0, 0 end
      local entries, bytes = string.match(value, '^(-?%d+) (-?%d+)$')
      if not entries then error('\#(damagedTally)') end
      return tonumber(entries), tonumber(bytes)
    end

    -- How many entries and bytes the field `name` counts, which may be changed, and how many it counted.
    local function sum(name)
      local found = sums[name]
      if not found then
        local entries, bytes = parse(field(name))
        found = {entries, bytes, entries, bytes}
        sums[name] = found
      end
      return found
    end

    local function count(name, entries, bytes)
      local found = sum(name)
      found[1], found[2] = found[1] + entries, found[2] + bytes
    end

    -- Counts entries of a namespace in the field `name`, which has its slots.
    local function countEntry(namespace, name, entries, bytes)
      count(name, entries, bytes)
      count(namespace .. '/', entries, bytes)
      count('*', entries, bytes)
    end

    -- The key of a line, its namespace, the field that counts it, the size that it says, and the slots of `retainUntil`
    -- and of the entry's end. Nothing if it is none.
    local function split(line)
      local key, namespace, slots, retain, bytes, late =
        string.match(line, '^(([^/ ]+)/%S*) (%x+ (%x+)) (%x+)( ?%x*)$')
      if not key then return end
      local retainSlot = tonumber(retain, 16)
      local ending = late ~= '' and tonumber(late, 16) or retainSlot
      return key, namespace, namespace .. ' ' .. slots .. late, tonumber(bytes, 16), retainSlot, ending
    end

    -- The slot in which what the field `name` counts has ended; nothing if it counts others.
    local function endingOf(name) return tonumber(string.match(name, '^%S+ %x+ .-(%x+)$') or '', 16) end

    -- Whether this version may change the tally.
    local function isCurrent() return not field('format') or field('format') == '1' end

    -- The slot before which nothing is counted.
    local function firstCounted() return swept or tonumber(field('swept') or '0') or 0 end

    local function linesOf(key)
      return redis.call('ZRANGEBYLEX', index, '[' .. key .. ' ', '(' .. key .. '!')
    end

    local function dropLine(line)
      if dropped[line] then return end
      local key, namespace, name, bytes, _, ending = split(line)
      -- A line that is none was never counted, and what ended in a slot that is over is counted no longer.
      if key and ending >= firstCounted() then countEntry(namespace, name, -1, -bytes) end
      dropped[line] = true
    end

    -- Whether the server has dropped the entry. One that is elsewhere because its slot is migrated is not gone.
    local function isGone(key) return redis.pcall('EXISTS', prefix .. key) == 0 end

    local function isWrongType(answer) return type(answer) == 'table' and answer.err and
      string.find(answer.err, 'WRONGTYPE', 1, true) end

    -- Whether `tail` is what an entry ends with.
    local function isTail(tail)
      local kind = #tail == 38 and string.byte(tail, 38)
      return kind == 2 or kind == 3
    end

    -- A number of 3, 4 or 6 bytes.
    local function number(bytes, first, last)
      local a, b, c, d, e, f = string.byte(bytes, first, last)
      local sum = (a * 256 + b) * 256 + c
      if d then sum = sum * 256 + d end
      return f and (sum * 256 + e) * 256 + f or sum
    end

    -- A server without room refuses a script's first write where it may take memory, and none after it. What only takes
    -- away begins with a write that takes none.
    local function begin() redis.call('ZREM', index, '') end

    -- Whether the server may drop a key that ends before its time; also where it does not say.
    local function evicts()
      local info = redis.pcall('INFO', 'memory')
      return type(info) ~= 'string' or not string.find(info, 'maxmemory_policy:noeviction', 1, true)
    end

    -- Lets the tally of an empty store go with the last batch that it remembers.
    local function retire()
      local left, all = lifetime, redis.call('HGETALL', tally)
      for at = 1, #all, 2 do
        local till = string.sub(all[at], 1, 1) == '@' and tonumber(string.match(all[at + 1], ' (%d+)$'))
        if till then left = math.max(left, till * 1000 - now) end
      end
      redis.call('PEXPIRE', tally, text(left))
    end

    -- Calls the command with all members, as many at a time as a script may pass.
    local function all(command, name, members)
      for first = 1, #members, 1000 do
        redis.call(command, name, unpack(members, first, math.min(first + 999, #members)))
      end
    end

    -- Leaves out what ended in slots that are over, and writers whose latest batch is no longer remembered, but not `own`.
    local function sweep(own)
      swept = tonumber(field('swept') or '0') or 0
      if swept >= current then return end
      local all = redis.call('HGETALL', tally)
      for at = 1, #all, 2 do known[all[at]] = all[at + 1] end
      for at = 1, #all, 2 do
        local name = all[at]
        local ending = endingOf(name)
        if ending and ending < current then
          local entries, bytes = parse(all[at + 1])
          countEntry(string.match(name, '^%S+'), name, -entries, -bytes)
        elseif name ~= own and string.sub(name, 1, 1) == '@'
          and tonumber(time[1]) > (tonumber(string.match(all[at + 1], ' (%d+)$')) or 0) then
          forgotten[#forgotten + 1] = name
        end
      end
      swept = current
    end

    -- Makes the changes to the tables. `fields` are more fields and values of the tally, `last` is the latest end of an
    -- entry that was put.
    local function commit(fields, last)
      -- A check relies on this number, so it must also change when only the index does and the counts cancel out.
      local gone, lines, changed = forgotten, {}, forgotten[1] or next(dropped) or last
      fields = fields or {}
      -- Read everything that could fail before the first write.
      local total = sum('*')[1]
      for name, found in pairs(sums) do
        if found[1] ~= found[3] or found[2] ~= found[4] then
          changed = true
          if found[1] ~= 0 then
            fields[#fields + 1] = name
            fields[#fields + 1] = text(found[1]) .. ' ' .. text(found[2])
          else
            gone[#gone + 1] = name
          end
        end
      end
      -- The latest end counts with all of its slot, so that it rarely changes.
      last = last and math.min((math.floor(last / 1048576) + 1) * 1048576, 253402300799999)
      local isLater = last and last > (tonumber(field('ends') or '0') or 0)
      local function set(name, value)
        if value ~= known[name] then
          fields[#fields + 1] = name
          fields[#fields + 1] = value
        end
      end
      if isLater then set('ends', text(last)) end
      if changed then set('changes', text((tonumber(field('changes') or '0') or 0) + 1)) end
      if #fields > 0 then
        if not field('format') then set('format', '1') end
        if swept then set('swept', text(swept)) end
        all('HSET', tally, fields)
      end
      for line in pairs(dropped) do lines[#lines + 1] = line end
      all('ZREM', index, lines)
      local left = total <= 0 and redis.pcall('ZCARD', index)
      -- While the slot is migrated, the server answers with an error once the index is empty and gone.
      if left == 0 or type(left) == 'table' then
        gone[#gone + 1] = 'ends'
        retire()
      elseif isLater then
        -- Where the last entry ends within three hours, the tables end a minute after it: so a store of nothing but
        -- passing entries, such as a killed benchmark leaves, expires. A server that evicts could drop such tables as it
        -- drops entries.
        local isNear = last - now < 10800000 and not evicts()
        for _, name in ipairs({index, tally}) do
          if isNear then redis.call('PEXPIREAT', name, text(last + lifetime)) else redis.call('PERSIST', name) end
        end
      end
      all('HDEL', tally, gone)
    end

    """#

  /// What scripts share that go through many entries.
  static let upkeep = #"""
    -- Forgets a line whose entry is gone, unless the tally cannot be read: that must not keep a reader from the rest.
    local canForget = true
    local function forget(line)
      if canForget and not pcall(dropLine, line) then
        canForget = false
        restart()
      end
      return canForget
    end

    -- Commits what was forgotten, and returns whether it did. A server that refuses changes must not make a reader fail. A
    -- tally that is lost stays so: a new one would only have what was forgotten, and hide the loss.
    local function settle()
      local mayCommit = next(dropped) and field('format') and isCurrent() and pcall(begin)
      if mayCommit then commit() end
      return mayCommit
    end

    """#
}
