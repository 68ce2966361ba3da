internal import StorageSPI
internal import Synchronization

extension RedisStore {
  /// A page of entries, in order. One server gives up to 1,000 of them as they are at one moment; on a cluster, and with
  /// payloads, each is seen at a moment of its own.
  ///
  /// Cost: a round trip for each 1,000 entries. On a cluster it is one more, which asks all nodes at once, and which lists
  /// more than it needs, for the scans that continue.
  /// - Throws: `CacheError`: `damaged` if one of them is unreadable; the message names it. Also if the range is one from its
  ///   beginning, and the index is known to lack entries: what it has can be listed after any key.
  func scan(_ request: ScanRequest) throws(CacheError) -> ScanPage {
    var (found, hasMore) = try list(KeyRange(request), limit: request.limit)
    if request.includesPayloads {
      var bytes = 0
      let fitting = found.prefix { entry in
        bytes += entry.summary.payloadBytes
        return bytes <= ScanRequest.maximumPayloadBytes
      }
      let kept = max(fitting.count, min(found.count, 1))
      hasMore = hasMore || kept < found.count
      found.removeSubrange(kept...)
    }
    if let damaged = found.first(where: \.isDamaged) { throw unreadable(damaged.summary.key) }
    let entries = found.map(\.summary)
    return ScanPage(
      request.includesPayloads ? try self.entries(entries.map(\.key)) : entries,
      next: hasMore ? entries.last?.key.text : nil)
  }

  /// The entries for `scan`, and the damaged ones; and whether more may follow.
  func list(_ range: KeyRange, limit: Int) throws(CacheError) -> (entries: [RedisListing], hasMore: Bool) {
    guard let bounds = RedisLines(range) else { return ([], false) }
    if !layout.isIndexed { return try listUnindexed(range, limit) }
    return layout.isSpread ? try listSpread(range, bounds, limit) : try listAlone(range, bounds, limit)
  }

  /// The entries on one server.
  private func listAlone(
    _ range: KeyRange, _ bounds: RedisLines, _ limit: Int
  ) throws(CacheError) -> (entries: [RedisListing], hasMore: Bool) {
    var beginning = range.after == nil ? ["\(range.prefix) "] : []
    // One entry more shows whether any follows.
    var (found, from, size) = ([RedisListing](), bounds.first, min(limit, Self.entriesAtOnce) + 1)
    while found.count <= limit {
      let arguments = [bounds.command, from, bounds.last, String(size), String(RedisEntry.usualLength)] + beginning
      let answer = try router.perform(
        RedisRequest(0, .list, keys: layout.tables(of: 0), arguments: arguments.map { Array($0.utf8) }))
      beginning = []
      guard let values = answer.elements, values.count == 2, let lines = values[0].elements,
        let ends = values[1].elements, lines.count == ends.count
      else { throw router.undecodable("a scan gives no list") }
      for (line, end) in zip(lines, ends) where !end.isNil {
        if let line = line.text.flatMap({ RedisLine($0) }) { found.append(RedisListing(line, end)) }
      }
      guard lines.count == size, let last = lines.last else { break }
      from = "(\(try text(of: last))"
      // Many of the entries were gone.
      size = min(2 * size, Self.entriesAtOnce)
    }
    return (Array(found.prefix(limit)), found.count > limit)
  }

  /// The entries on a cluster.
  private func listSpread(
    _ range: KeyRange, _ bounds: RedisLines, _ limit: Int
  ) throws(CacheError) -> (entries: [RedisListing], hasMore: Bool) {
    var lines = ahead.take(range) ?? RedisLineBuffer(from: bounds.first, generation: ahead.generation)
    var (found, size, isBeginning) = ([RedisListing](), Self.linesPerPart, range.after == nil)
    while true {
      if lines.isEmpty {
        if lines.isComplete { break }
        try fill(&lines, bounds, size, isBeginning: isBeginning)
        isBeginning = false
        size = max(size, min(2 * size, Self.entriesAtOnce))
      }
      if found.count == limit, !lines.isEmpty { break }
      // Skip malformed lines here; `verify` reports them.
      let page = lines.take(min(limit - found.count, Self.entriesAtOnce)).compactMap { RedisLine($0) }
      found += try look(at: page)
    }
    ahead.keep(lines, of: range, after: found.last?.summary.key)
    return (found, !lines.isEmpty)
  }

  /// How many lines of each part of a cluster to list at once.
  private static let linesPerPart = 8
  /// How many entries to look at in one step, during which the server answers no other client.
  private static let entriesAtOnce = 1_000

  /// The text of a line from which a listing goes on.
  private func text(of line: RedisValue) throws(CacheError) -> String {
    guard let text = line.text else { throw router.undecodable("the index has a line that is no text") }
    return text
  }

  /// Lists the next lines.
  private func fill(
    _ buffer: inout RedisLineBuffer, _ bounds: RedisLines, _ size: Int, isBeginning: Bool
  ) throws(CacheError) {
    let (from, start) = (buffer.from, ContinuousClock.now)
    let replies = try router.performOnNodes { group in
      let arguments = [bounds.command, from, bounds.last, String(size)] + (isBeginning ? ["beginning"] : [])
      return RedisRequest(group.parts[0], .lines, keys: [], arguments: group.names + arguments.map { Array($0.utf8) })
    }
    var (lines, ends, elsewhere) = ([String](), [String](), [Int]())
    for (_, reply) in replies {
      guard let values = reply.value.elements, values.count == 3, let found = values[0].elements,
        let last = values[1].elements
      else { throw router.undecodable("a scan gives no list") }
      lines += found.compactMap(\.text)
      for line in last { ends.append(try text(of: line)) }
      elsewhere += RedisSlot.slots(tags: values[2].bytes)
    }
    let others = try askOwners(elsewhere) {
      RedisCommand(bounds.command, layout.tables(of: $0)[0], from, bounds.last, "LIMIT", "0", String(size))
    }
    for page in others.map({ $0.elements ?? [] }) {
      lines += page.compactMap(\.text)
      if page.count == size, let last = page.last { ends.append(try text(of: last)) }
    }
    // What is beyond the first of the ends may lack lines of that part.
    let comesBefore: (String, String) -> Bool = bounds.isDescending ? (>) : (<)
    let end = ends.min(by: comesBefore)
    if let end { lines.removeAll { comesBefore(end, $0) } }
    buffer.fill(lines.sorted(by: comesBefore), to: end, at: start)
  }

  /// The entries for `lines`, skipping any that no longer exist.
  private func look(at lines: [RedisLine]) throws(CacheError) -> [RedisListing] {
    if lines.isEmpty { return [] }
    let places = Dictionary(grouping: lines.indices) { layout.part(of: lines[$0].key) }
    let replies = try router.performOnNodes(Array(places.keys)) { group in
      let pairs = group.parts.flatMap { part in
        (places[part] ?? []).flatMap { [layout.base(of: part), lines[$0].text] }
      }
      return RedisRequest(
        group.parts[0], .heads, keys: [], arguments: ([String(RedisEntry.usualLength)] + pairs).map { Array($0.utf8) })
    }
    var found: [RedisListing?] = Array(repeating: nil, count: lines.count)
    for (parts, reply) in replies {
      let indices = parts.flatMap { places[$0] ?? [] }
      guard let values = reply.value.elements, values.count == indices.count else {
        throw router.undecodable("a scan gives no entries")
      }
      for (index, value) in zip(indices, values) where !value.isNil {
        found[index] = RedisListing(lines[index], value)
      }
    }
    return found.compactMap { $0 }
  }
}

/// The keys that a listing visits: those that begin with `prefix` and come after `after`, or before it if it descends.
struct KeyRange: Sendable, Hashable {
  var prefix = ""
  var after: String?
  var isDescending = false

  /// All keys.
  init() {}

  init(_ request: ScanRequest) {
    prefix = request.prefix
    after = request.position
    isDescending = request.isDescending
  }

  func contains(_ key: CacheKey) -> Bool {
    ScanRequest(prefix: prefix, after: after, isDescending: isDescending).contains(key)
  }
}

/// An entry as `scan` lists it.
struct RedisListing {
  /// For an unreadable entry, this has the times from its index line, and its checksum, or 0 if that is lost.
  let summary: ScannedEntry
  let isDamaged: Bool

  /// - Parameter end: the end of the entry, as the script `heads` returns it.
  init(_ line: RedisLine, _ end: RedisValue) {
    let (metadata, checksum) = end.withBytes { (RedisEntry.metadata(endOf: $0), RedisEntry.checksum(endOf: $0)) }
    isDamaged = metadata == nil
    summary = ScannedEntry(
      key: line.key, metadata: metadata ?? RedisEntry.metadata(ofDamaged: line, checksum: checksum),
      payloadBytes: line.bytes)
  }

  /// An entry that was found by its key; `nil` if it is gone.
  ///
  /// - Parameter end: the end of the entry and its length, as the script `ends` returns them.
  init?(_ key: CacheKey, _ end: RedisValue) {
    guard let values = end.elements, values.count == 2, !values[0].isNil else { return nil }
    let length = Int(values[1].integer ?? 0)
    let (found, checksum) = values[0].withBytes {
      (RedisEntry.decode(endOf: $0, length: length), RedisEntry.checksum(endOf: $0))
    }
    isDamaged = found == nil
    let unknown = EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: Timestamp(milliseconds: 0),
      retainUntil: Timestamp(milliseconds: 0), contentType: "", checksum: checksum)
    summary = ScannedEntry(key: key, metadata: found?.metadata ?? unknown, payloadBytes: found?.payloadBytes ?? length)
  }
}

/// The index lines for a range of keys, in the form of `command`.
///
/// A space is less than every character of a key, so lines sort by key; all lines of a key are between the key with a space
/// and the key with `!`, the next character.
struct RedisLines {
  let first: String
  let last: String
  let isDescending: Bool

  var command: String { isDescending ? "ZREVRANGEBYLEX" : "ZRANGEBYLEX" }

  /// `nil` if no key can be in the range.
  init?(_ range: KeyRange) {
    guard range.prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    isDescending = range.isDescending
    // DEL is greater than every character of a key.
    let end = "\(range.prefix)\u{7F}"
    guard isDescending else {
      let after = range.after.map { "\($0)!" } ?? ""
      let start = max(after, range.prefix)
      first = start.isEmpty ? "-" : "[\(start)"
      last = range.prefix.isEmpty ? "+" : "(\(end)"
      return
    }
    first = "(\(range.after.map { min("\($0) ", end) } ?? end)"
    last = range.prefix.isEmpty ? "-" : "[\(range.prefix)"
  }
}

/// Lines of indexes, or keys, that were listed, and where to go on.
struct RedisLineBuffer {
  /// The line at which the next request starts.
  private(set) var from: String
  /// The number of the changes, by this handle, that are in the lines.
  let generation: Int
  /// When the listing began.
  fileprivate private(set) var time = ContinuousClock.now
  private var lines: ArraySlice<String> = []
  /// Whether there are no more lines than these.
  private(set) var isComplete = false

  init(from: String, generation: Int) { (self.from, self.generation) = (from, generation) }

  var isEmpty: Bool { lines.isEmpty }

  /// Replaces the lines, of which none was left, with the next ones, which are all up to `end`; `nil` if there are no
  /// more. The listing began at `time`.
  mutating func fill(_ lines: [String], to end: String?, at time: ContinuousClock.Instant) {
    (self.lines, self.time) = (lines[...], time)
    if let end { from = "(\(end)" }
    isComplete = end == nil
  }

  /// Restarts the time for which the lines may be used.
  mutating func renew() { time = .now }

  /// Takes the first `count` lines.
  mutating func take(_ count: Int) -> [String] {
    defer { lines.removeFirst(min(count, lines.count)) }
    return Array(lines.prefix(count))
  }
}

/// What the last scan of a cluster, or of a store without an index, has listed beyond its end. A scan that continues there
/// within two seconds need not list it again, unless this handle has changed the store since.
final class RedisReadAhead: Sendable {
  private struct Kept {
    let lines: RedisLineBuffer
    /// The rest of the range that was listed.
    let range: KeyRange
  }

  private struct State {
    var kept: Kept?
    var generation = 0
  }

  private let state = Mutex(State())
  private static let lifetime = Duration.seconds(2)

  /// The number of changes by this handle so far.
  var generation: Int { state.withLock { $0.generation } }

  /// Keeps `lines` of `range` behind `key`; nothing if that is `nil`.
  func keep(_ lines: RedisLineBuffer, of range: KeyRange, after key: CacheKey?) {
    guard let key else { return }
    var range = range
    range.after = key.text
    let kept = Kept(lines: lines, range: range)
    state.withLock {
      if lines.generation == $0.generation { $0.kept = kept }
    }
  }

  /// The lines for a scan of `range`, if it continues the last one.
  func take(_ range: KeyRange) -> RedisLineBuffer? {
    guard let kept = state.withLock({ $0.kept }), kept.range == range,
      kept.lines.time.duration(to: .now) < Self.lifetime
    else { return nil }
    return kept.lines
  }

  /// Forgets the lines, because this handle changes the store.
  func clear() { state.withLock { $0 = State(generation: $0.generation + 1) } }
}
