internal import StorageSPI

/// Finds the entries in the content of a damaged file, whatever stands between them.
///
/// An entry begins at an unescaped quote that the namespace and a slash follow. Within strings quotes are escaped, so
/// that no text within a payload can be taken for an entry; what follows must be an object with all fields of an entry,
/// which the value or the name of an attribute is not. Cost: proportional to the number of bytes, because an attempt
/// that fails has not gone beyond the next place where another can succeed.
struct PlistSalvage {
  /// The entries that were found, in the order of the file. A key may come twice, because a damaged one may read like
  /// another.
  private(set) var entries: [(key: CacheKey, value: EntryTable.Entry)] = []
  /// What stands between them that cannot be read.
  private(set) var lost: [IntegrityIssue] = []
  /// What is not as it was written between them, and too short to have been an entry.
  private(set) var mended: [IntegrityIssue] = []
  /// Whether the file is whole but for the number of its version.
  var isWholeButForItsVersion: Bool { lost.isEmpty && mended.isEmpty && !entries.isEmpty }
  /// The bytes before the first entry, white space and the name of the namespace apart, with some to spare.
  private static let largestHeader = 60
  /// The bytes of the smallest entry, white space apart, with some to spare.
  private static let smallestEntry = 160

  private let bytes: [UInt8]
  private let namespace: String
  private let path: String
  /// The end of the last entry that was found, and the keys of those after it that cannot be read, with the reasons.
  private var end = 0
  private var failures: [(key: CacheKey, reason: String)] = []
  private var lines = LineCounter()

  /// What can be read of `bytes`, the content of the file of `namespace` at `path`.
  init(_ bytes: [UInt8], namespace: String, path: String) {
    (self.bytes, self.namespace, self.path) = (bytes, namespace, path)
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

  /// The first position from `position` on at which an entry may begin.
  private func nextStart(from position: Int) -> Int? {
    next(Array("\"\(namespace)/".utf8), in: position..<bytes.count)
  }

  /// The first position in `range` of `marker`, which begins with a quote that is not escaped.
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

  /// Reads the entry at `start`, and says where it ends; `nil` where there is none that can be read.
  private mutating func readEntry(at start: Int) -> Int? {
    var scanner = JSONScanner(bytes, at: start)
    guard let key = scanner.key() else { return nil }
    do throws(PlistFormatError) {
      let entry = try PlistEntryFields.entry(key, &scanner)
      guard (try? UTF8Span(validating: bytes[start..<scanner.offset].span)) != nil else {
        throw PlistFormatError(message: "it is not UTF-8")
      }
      noteGap(before: start)
      entries.append((key, entry))
      return scanner.offset
    } catch {
      failures.append((key, error.message))
      return nil
    }
  }

  /// Notes what is lost between the last entry that was found and `start`.
  private mutating func noteGap(before start: Int) {
    let gap = end..<start
    defer { failures = [] }
    guard !isOrdinary(gap) else { return }
    for (key, reason) in failures {
      lost.append(IntegrityIssue(key: key, kind: .undecodable, message: "\(path): \(key) cannot be read: \(reason)"))
    }
    guard failures.isEmpty || mayHideEntry(gap) else { return }
    let (first, last) = (lines.line(at: gap.lowerBound, in: bytes), lines.line(at: gap.upperBound, in: bytes))
    let issue = IntegrityIssue(
      kind: .structure, message: "\(path): lines \(first) to \(last) are not as they were written")
    if !failures.isEmpty || mayHaveHeldEntry(gap) { lost.append(issue) } else { mended.append(issue) }
  }

  /// Whether `gap` may have held more entries than the failed ones: the end of the file is gone, the damaged part has room
  /// for an entry, or a field occurs more often than there are entries.
  private func mayHideEntry(_ gap: Range<Int>) -> Bool {
    if gap.upperBound == bytes.count {
      let last = bytes[gap].reversed().lazy.filter { !$0.isSpaceInJSON }.prefix(2)
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

  /// Whether no file that was written here has the byte: it is of no text, or escaped in every string.
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

  /// Whether an entry may have stood in `gap`, or behind the end of the file: unless what encloses the entries is there,
  /// and between two of them no more than the place of a comma.
  private func mayHaveHeldEntry(_ gap: Range<Int>) -> Bool {
    let text = Array(bytes[gap].lazy.filter { !$0.isSpaceInJSON }.prefix(200))
    if gap.upperBound == bytes.count { return text.count > 3 || !text.suffix(2).elementsEqual("}}".utf8) }
    guard entries.isEmpty else { return text.count > 1 }
    return text.count > Self.largestHeader + namespace.utf8.count
      || !text.suffix(11).elementsEqual("\"entries\":{".utf8)
  }

  /// Whether in `gap`, white space apart, stands only what belongs between entries, before the first, or after the last.
  private func isOrdinary(_ gap: Range<Int>) -> Bool {
    let (isFirst, isLast) = (entries.isEmpty, gap.upperBound == bytes.count)
    // What is longer cannot be, and need not be looked at.
    let found = bytes[gap].lazy.filter { !$0.isSpaceInJSON }.prefix(200)
    var scanner = JSONScanner(Array(found))
    if isFirst {
      guard scanner.skip("{\"format\":"), (try? scanner.number()) != nil,
        scanner.skip(",\"namespace\":\"\(namespace)\",\"entries\":{")
      else { return false }
    } else if !isLast {
      guard scanner.skip(",") else { return false }
    }
    return (!isLast || scanner.skip("}}")) && scanner.next == nil
  }
}

extension JSONScanner {
  /// Reads the bytes of `text`, if they come next, and says whether they did.
  fileprivate mutating func skip(_ text: String) -> Bool { text.utf8.allSatisfy { skip($0) } }

  /// Reads the name of a member that is a key, and the colon and the brace after it that stay to be read; `nil` where
  /// something else stands there.
  fileprivate mutating func key() -> CacheKey? {
    guard let text = try? text(), let key = try? CacheKey(text), skip(UInt8(ascii: ":")) else { return nil }
    return next == UInt8(ascii: "{") ? key : nil
  }
}

/// Counts lines from the beginning, each byte once, as long as the positions rise.
private struct LineCounter {
  private var line = 1
  private var position = 0

  /// The number of the line in which the byte at `offset` stands.
  mutating func line(at offset: Int, in bytes: [UInt8]) -> Int {
    while position < offset {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
    return line
  }
}
