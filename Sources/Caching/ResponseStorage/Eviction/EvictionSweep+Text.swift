internal import StorageSPI

/// A sweep as text, from one process to the next.
///
/// The first line has the name and version of the format, the turn and the spacing. A line for each stretch follows: `.`
/// or `done`, the entries since its last mark, the last key visited, the last key of the stretch, then its marks. A key
/// that is missing is `-`, which no key can be.
extension EvictionSweep {
  private static let name = "sweep-1"
  /// Longer texts, of very long keys, are not worth keeping.
  private static let maximumLength = 1 << 18

  /// The text; empty if it would be too long.
  package var text: String {
    let lines = stretches.map { stretch in
      let keys = [stretch.after, stretch.end].map { $0?.text ?? "-" } + stretch.marks.map(\.text)
      return ([stretch.isDone ? "done" : ".", String(stretch.unmarked)] + keys).joined(separator: " ")
    }
    let text = (["\(Self.name) \(turn) \(spacing)"] + lines).joined(separator: "\n") + "\n"
    return text.utf8.count > Self.maximumLength ? "" : text
  }

  /// The sweep with the text `text`; `nil` if it is not one.
  package init?(text: String) {
    let lines = text.split(separator: "\n")
    guard text.utf8.count <= Self.maximumLength, text.hasSuffix("\n"), let head = lines.first else { return nil }
    let words = head.split(separator: " ")
    guard words.count == 3, words[0] == Self.name, let turn = Int(words[1]), let spacing = Int(words[2]),
      turn >= 0, (Self.pageSize...1 << 40).contains(spacing)
    else { return nil }
    let stretches = lines.dropFirst().compactMap { Stretch(line: $0) }
    guard stretches.count == lines.count - 1, Self.areConsistent(stretches) else { return nil }
    self.init(stretches: stretches, turn: turn, spacing: spacing)
  }

  /// Whether the stretches are in order and go to the end of the store, so that a round visits each entry once.
  private static func areConsistent(_ stretches: [Stretch]) -> Bool {
    guard let last = stretches.last, last.end == nil, stretches.count <= maximumStretches else { return false }
    let ends = stretches.dropLast().map(\.end)
    guard !ends.contains(nil), stretches.reduce(0, { $0 + $1.marks.count }) <= maximumMarks else { return false }
    let keys = ends.compactMap(\.self)
    return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      && zip(stretches.dropFirst(), keys).allSatisfy { stretch, start in stretch.after.map { $0 >= start } ?? false }
  }
}

extension EvictionSweep.Stretch {
  fileprivate init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 4, let unmarked = Int(words[1]), unmarked >= 0, words[0] == "done" || words[0] == "." else {
      return nil
    }
    let keys = words.dropFirst(2).map { try? CacheKey(String($0)) }
    guard zip(keys, words.dropFirst(2)).allSatisfy({ $0 != nil || $1 == "-" }) else { return nil }
    (after, end, isDone, self.unmarked) = (keys[0], keys[1], words[0] == "done", unmarked)
    marks = keys.dropFirst(2).compactMap(\.self)
  }
}
