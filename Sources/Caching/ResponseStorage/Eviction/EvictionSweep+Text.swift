internal import CChecksum
internal import StorageSPI

/// A sweep as text, from one process to the next.
///
/// The first line has the name and version of the format, the turn and the spacing. A line for each stretch follows: `.`
/// or `done`, the entries since its last mark, the last key visited, the last key of the stretch, then its marks. A key
/// that is missing is `-`, which no key can be. The last line is a checksum of the others: a text that is torn, damaged
/// or edited is no sweep, so the numbers and keys of one are what a sweep has written.
extension EvictionSweep {
  private static let name = "sweep-2"
  /// Longer texts, of very long keys, are not worth keeping.
  private static let maximumLength = 1 << 18

  /// The text; empty if it would be too long.
  package var text: String {
    let lines = stretches.map { stretch in
      let keys = [stretch.after, stretch.end].map { $0?.text ?? "-" } + stretch.marks.map(\.text)
      return ([stretch.isDone ? "done" : ".", String(stretch.unmarked)] + keys).joined(separator: " ")
    }
    let text = (["\(Self.name) \(turn) \(spacing)"] + lines).joined(separator: "\n") + "\n"
    return text.utf8.count > Self.maximumLength ? "" : Self.checked(text)
  }

  /// The sweep with the text `text`; `nil` if it is not as it was written.
  package init?(text: String) {
    let content = String(Substring(text.utf8.dropLast(Self.checksumLength)))
    guard Self.checked(content) == text else { return nil }
    let lines = content.split(separator: "\n")
    guard let head = lines.first?.split(separator: " "), head.count == 3, head[0] == Self.name,
      let turn = Int(head[1]), let spacing = Int(head[2])
    else { return nil }
    self.init(stretches: lines.dropFirst().compactMap { Stretch(line: $0) }, turn: turn, spacing: spacing)
  }

  /// The length of the last line.
  private static let checksumLength = 17

  /// `text`, and a line with its checksum.
  private static func checked(_ text: String) -> String {
    var text = text
    return text + Hexadecimal.text(text.withUTF8 { cchecksum_xxh3($0.baseAddress, $0.count, 0) }) + "\n"
  }
}

extension EvictionSweep.Stretch {
  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 4, let unmarked = Int(words[1]) else { return nil }
    let keys = words.dropFirst(2).map { try? CacheKey(String($0)) }
    self.init(
      after: keys[0], end: keys[1], isDone: words[0] == "done", unmarked: unmarked,
      marks: keys.dropFirst(2).compactMap(\.self))
  }
}
