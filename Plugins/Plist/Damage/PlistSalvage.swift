internal import EngineSupport
internal import StorageSPI

/// Finds the entries in a damaged file, whatever lies between them.
///
/// An entry starts at an unescaped quote followed by the namespace and a slash. Quotes inside strings are escaped, so
/// no text in a payload can look like an entry. What follows must be an object with all the fields of an entry, which
/// the value or the name of an attribute is not. Cost: proportional to the number of bytes, because a failed attempt
/// never reads beyond the next place where another one can succeed.
struct PlistSalvage {
  /// The entries found, in file order. A key may occur twice, because a damaged key may read like another one.
  private(set) var entries: [(key: CacheKey, value: EntryTable.Entry)] = []
  /// The unreadable parts between them.
  private(set) var lost: [IntegrityIssue] = []
  /// The damaged parts between them that are too short to have been an entry.
  private(set) var mended: [IntegrityIssue] = []
  /// Whether only the file's version number is damaged.
  var isWholeButForItsVersion: Bool { lost.isEmpty && mended.isEmpty && !entries.isEmpty }
  /// The bytes before the first entry, without white space and the namespace's name, rounded up.
  private static let largestHeader = 60
  /// The bytes of the smallest possible entry, without white space, rounded down.
  private static let smallestEntry = 160

  private let bytes: [UInt8]
  private let json: JSONReader
  private let namespace: String
  private let path: String
  /// The end of the last entry found, and the keys of the unreadable entries after it, with the reasons.
  private var end = 0
  private var failures: [(key: CacheKey, reason: String)] = []
  /// The last position whose line was asked for, and its offset.
  private var last = (place: SourcePlace(), offset: 0)

  /// Reads what it can from `bytes`, the content of the file of `namespace` at `path`.
  init(_ bytes: [UInt8], namespace: String, path: String) {
    (self.bytes, self.json, self.namespace, self.path) = (bytes, JSONReader(bytes), namespace, path)
    var position = 0
    while let start = nextStart(from: position) {
      guard let next = readEntry(at: start) else {
        position = start + 1
        continue
      }
      (position, end) = (next, next)
    }
    noteGap(before: bytes.count)
  }

  /// The first position at or after `position` where an entry may start.
  private func nextStart(from position: Int) -> Int? {
    next(Array("\"\(namespace)/".utf8), in: position..<bytes.count)
  }

  /// The first position of `marker` in `range`, starting with an unescaped quote.
  private func next(_ marker: [UInt8], in range: Range<Int>) -> Int? {
    let span = bytes.span
    var index = range.lowerBound
    while index + marker.count <= range.upperBound {
      if span[index] == marker[0], index == 0 || span[index - 1] != UInt8(ascii: "\\"),
        bytes[index..<(index + marker.count)].elementsEqual(marker)
      {
        return index
      }
      index += 1
    }
    return nil
  }

  /// Reads the entry at `start`, and returns its end; `nil` if there is no readable entry.
  private mutating func readEntry(at start: Int) -> Int? {
    var json = json
    json.offset = start
    guard let key = json.key() else { return nil }
    do throws(JSONReader.Failure) {
      let entry = try PlistEntryFields.entry(key, &json)
      noteGap(before: start)
      entries.append((key, entry))
      return json.offset
    } catch {
      failures.append((key, error.message))
      return nil
    }
  }

  /// Records what is lost between the last entry found and `start`.
  private mutating func noteGap(before start: Int) {
    let gap = end..<start
    defer { failures = [] }
    guard !isOrdinary(gap) else { return }
    for (key, reason) in failures {
      lost.append(IntegrityIssue(key: key, kind: .undecodable, message: "\(path): \(key) cannot be read: \(reason)"))
    }
    guard failures.isEmpty || mayHideEntry(gap) else { return }
    let (first, last) = (line(at: gap.lowerBound), line(at: gap.upperBound))
    let issue = IntegrityIssue(
      kind: .structure, message: "\(path): lines \(first) to \(last) are not as they were written")
    if !failures.isEmpty || mayHaveHeldEntry(gap) { lost.append(issue) } else { mended.append(issue) }
  }

  /// The number of the line at `offset`, which must not be before the last one asked for.
  private mutating func line(at offset: Int) -> Int {
    var place = last.place
    place.advance(over: bytes.span.extracting(last.offset..<offset))
    last = (place, offset)
    return place.line
  }

  /// Whether `gap` may have held more entries than the failed ones. That is so if the end of the file is missing, the
  /// damaged part has room for an entry, or a field occurs more often than there are entries.
  private func mayHideEntry(_ gap: Range<Int>) -> Bool {
    if gap.upperBound == bytes.count {
      let last = bytes[gap].reversed().lazy.filter { !$0.isJSONSpace }.prefix(2)
      guard last.elementsEqual("}}".utf8) else { return true }
    }
    let first = bytes[gap].firstIndex(where: Self.isNeverWritten)
    if let first, let last = bytes[gap].lastIndex(where: Self.isNeverWritten), last - first >= Self.smallestEntry {
      return true
    }
    return ["storedAt", "freshUntil", "retainUntil", "contentType", "checksum", "payload"].contains { name in
      count(Array("\"\(name)\":".utf8), in: gap) > failures.count
    }
  }

  /// Whether this engine never writes the byte: it is not valid in text, or is escaped in every string.
  private static func isNeverWritten(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\n"): false
    case 0..<0x20, 0xC0, 0xC1, 0xF5...: true
    default: false
    }
  }

  private func count(_ marker: [UInt8], in range: Range<Int>) -> Int {
    var (count, position) = (0, range.lowerBound)
    while let start = next(marker, in: position..<range.upperBound) {
      (count, position) = (count + 1, start + marker.count)
    }
    return count
  }

  /// Whether an entry may have been in `gap`, or behind the end of the file. It cannot have been if the text that
  /// encloses the entries is intact, and no more than a comma is missing between two of them.
  private func mayHaveHeldEntry(_ gap: Range<Int>) -> Bool {
    let text = Array(bytes[gap].lazy.filter { !$0.isJSONSpace }.prefix(200))
    if gap.upperBound == bytes.count { return text.count > 3 || !text.suffix(2).elementsEqual("}}".utf8) }
    guard entries.isEmpty else { return text.count > 1 }
    return text.count > Self.largestHeader + namespace.utf8.count
      || !text.suffix(11).elementsEqual("\"entries\":{".utf8)
  }

  /// Whether `gap`, ignoring white space, contains only what belongs between entries, before the first or after the
  /// last.
  private func isOrdinary(_ gap: Range<Int>) -> Bool {
    let (isFirst, isLast) = (entries.isEmpty, gap.upperBound == bytes.count)
    // Longer text cannot match, so there is no need to look at all of it.
    let found = bytes[gap].lazy.filter { !$0.isJSONSpace }.prefix(200)
    var json = JSONReader(Array(found))
    if isFirst {
      guard json.skip("{\"format\":"), ((try? json.integer()) ?? -1) >= 0,
        json.skip(",\"namespace\":\"\(namespace)\",\"entries\":{")
      else { return false }
    } else if !isLast {
      guard json.skip(",") else { return false }
    }
    return (!isLast || json.skip("}}")) && json.next == nil
  }
}

extension JSONReader {
  /// Reads the bytes of `text`, with any white space between them, and returns whether they came next.
  fileprivate mutating func skip(_ text: String) -> Bool { text.utf8.allSatisfy { skip($0) } }

  /// Reads a member name that is a key. The colon and the brace must follow, but are not consumed; otherwise returns
  /// `nil`.
  fileprivate mutating func key() -> CacheKey? {
    guard let text = try? string(), let key = try? CacheKey(text), skip(UInt8(ascii: ":")) else { return nil }
    return next == UInt8(ascii: "{") ? key : nil
  }
}

extension UInt8 {
  /// Whether JSON counts the byte as white space.
  fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
