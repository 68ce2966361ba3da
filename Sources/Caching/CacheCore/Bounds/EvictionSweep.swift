package import EngineAPI

/// The order in which evictions look at the entries of a large store: in each round every entry once, a page at a time,
/// and page after page from other parts of the store.
///
/// It knows keys alone, and needs only to list what comes after one. The store is divided into stretches of about as many
/// entries, by keys that the round before has noted at equal distances. A round visits the stretches in turn, in an order
/// that jumps, because neighbouring keys often have similar ages. A store whose engine is not `ordered` is one stretch: its
/// neighbours are as good as random.
package struct EvictionSweep: Sendable, Equatable {
  /// The number of entries in a page.
  package static let pageSize = 16
  /// The most stretches of a round.
  static let maximumStretches = 32
  /// The most keys that a round notes. Beyond that it forgets every other one.
  static let maximumMarks = 256

  /// A part of the store: the keys after `position`, up to and including `end`.
  struct Stretch: Sendable, Equatable {
    /// The position after the last entry visited, which is its key if the engine is ordered; `nil` at the start of the store.
    var position: String?
    /// The last key of the stretch; `nil` for the end of the store.
    var end: CacheKey?
    var isDone = false
    /// The number of entries visited since the last mark.
    var unmarked = 0
    /// Keys visited in this round, `spacing` entries apart.
    var marks: [CacheKey] = []
  }

  /// The stretches of this round, in the order of keys; never empty.
  var stretches: [Stretch]
  /// How many visits this round has planned.
  var turn = 0
  /// The number of entries from one mark to the next.
  var spacing = EvictionSweep.pageSize
  /// How many rounds are complete.
  package private(set) var rounds = 0
  /// Whether the engine lists keys in order.
  var isOrdered = true

  /// The entries of the next visit, listed by `engine`. Begins a new round when this one is complete.
  ///
  /// - Throws: `CacheError`: what the engine throws.
  mutating func next(in engine: any StorageEngine) async throws(CacheError) -> ArraySlice<ScannedEntry> {
    let stretch = nextStretch()
    let page = try await engine.scan(request(for: stretch))
    return page.entries.prefix(note(page, in: stretch))
  }

  /// The number of the stretch to visit next. Begins a new round when this one is complete.
  package mutating func nextStretch() -> Int {
    if stretches.allSatisfy(\.isDone) { beginRound() }
    while true {
      let index = Self.jumping(turn, below: stretches.count)
      turn += 1
      if let index, !stretches[index].isDone { return index }
    }
  }

  /// The scan for a visit to the stretch `index`.
  package func request(for index: Int) -> ScanRequest {
    ScanRequest(after: stretches[index].position, limit: Self.pageSize)
  }

  /// Notes a visit to the stretch `index`, which found `page`.
  ///
  /// - Returns: how many of the first entries belong to the stretch.
  package mutating func note(_ page: ScanPage, in index: Int) -> Int {
    let entries = page.entries
    // From the end: almost all pages are completely in their stretch.
    let end = stretches[index].end
    let own = entries.count - (end.map { end in entries.reversed().prefix { $0.key > end }.count } ?? 0)
    stretches[index].position = own == entries.count ? page.next : entries.prefix(own).last?.key.text
    stretches[index].isDone = own < entries.count || page.next == nil
    if isOrdered, let last = entries.prefix(own).last?.key {
      stretches[index].unmarked += own
      if stretches[index].unmarked >= spacing { mark(last, in: index) }
    }
    return own
  }

  private mutating func mark(_ key: CacheKey, in index: Int) {
    stretches[index].unmarked = 0
    stretches[index].marks.append(key)
    guard stretches.reduce(0, { $0 + $1.marks.count }) > Self.maximumMarks else { return }
    spacing *= 2
    for index in stretches.indices {
      let marks = stretches[index].marks
      stretches[index].marks = stride(from: 1, to: marks.count, by: 2).map { marks[$0] }
    }
  }

  /// Divides the store again, by the marks of the round that is complete.
  private mutating func beginRound() {
    let marks = stretches.flatMap(\.marks)
    let count = max(1, min(Self.maximumStretches, marks.count / 4))
    let ends = (1..<count).map { Optional(marks[$0 * marks.count / count]) }
    stretches = zip([nil] + ends, ends + [nil]).map { Stretch(position: $0?.text, end: $1) }
    // A store that shrinks has its marks closer together again.
    if marks.count < Self.maximumMarks / 4 { spacing = max(Self.pageSize, spacing / 2) }
    turn = 0
    rounds += 1
  }

  /// The place of `turn` in an order of `0..<count` that jumps: its bits reversed (van der Corput); `nil` if that is not
  /// below `count`.
  private static func jumping(_ turn: Int, below count: Int) -> Int? {
    let bits = count < 2 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount
    let place = turn & ((1 << bits) - 1)
    let index = (0..<bits).reduce(0) { $0 | ((place >> $1) & 1) << (bits - 1 - $1) }
    return index < count ? index : nil
  }
}

extension EvictionSweep {
  /// A sweep that starts at the beginning of the store and, if it is ordered, at `key`.
  package init(at key: CacheKey, isOrdered: Bool = true) {
    self.init(
      stretches: isOrdered ? [Stretch(end: key), Stretch(position: key.text)] : [Stretch()], isOrdered: isOrdered)
  }
}

/// A sweep as text, from one process to the next: some kilobytes of a `UseTable`, which knows whether they are damaged.
///
/// The first line has the name and version of the format, the turn and the spacing. A line for each stretch follows: `.`
/// or `done`, the entries since its last mark, the last key visited, the last key of the stretch, then its marks. A key
/// that is missing is `-`, which no key can be.
extension EvictionSweep {
  private static let name = "sweep-1"
  /// Longer texts, of very long keys, are not worth keeping.
  static let maximumLength = 1 << 18

  /// The text; empty if it would be too long, or the engine is not ordered.
  package var text: String {
    if !isOrdered { return "" }
    let lines = stretches.map { stretch in
      let keys = [stretch.position ?? "-", stretch.end?.text ?? "-"] + stretch.marks.map(\.text)
      return ([stretch.isDone ? "done" : ".", String(stretch.unmarked)] + keys).joined(separator: " ")
    }
    let text = (["\(Self.name) \(turn) \(spacing)"] + lines).joined(separator: "\n")
    return text.utf8.count > Self.maximumLength ? "" : text
  }

  /// The sweep with the text `text`; `nil` if no sweep has written it.
  package init?(text: String) {
    let lines = text.split(separator: "\n")
    guard let head = lines.first?.split(separator: " "), head.count == 3, head[0] == Self.name,
      let turn = Int(head[1]), let spacing = Int(head[2])
    else { return nil }
    let stretches = lines.dropFirst().compactMap { Stretch(line: $0) }
    if stretches.isEmpty { return nil }
    self.init(stretches: stretches, turn: turn, spacing: spacing)
  }
}

extension EvictionSweep.Stretch {
  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 4, let unmarked = Int(words[1]) else { return nil }
    let keys = words.dropFirst(2).map { try? CacheKey(String($0)) }
    self.init(
      position: keys[0]?.text, end: keys[1], isDone: words[0] == "done", unmarked: unmarked,
      marks: keys.dropFirst(2).compactMap(\.self))
  }
}
