/// How far two words are apart: the insertions, deletions, replacements and swaps of neighbours that lead from one to
/// the other, no part changed twice (the optimal string alignment variant of the Damerau-Levenshtein distance).
package enum SpellingDistance {
  /// The distance of two words, compared by bytes and only in their first 64. At most 64 times 64 steps.
  package static func between(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.utf8.prefix(64)), Array(right.utf8.prefix(64)))
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let isSame = left[row] == right[column]
        var best = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }

  /// The first of `candidates` that is the least far from `word`; `nil` where there are none.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    candidates.map { (word: $0, distance: between(word, $0)) }.min { $0.distance < $1.distance }?.word
  }
}
