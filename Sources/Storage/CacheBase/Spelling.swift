/// Finds the intended name for a misspelled one.
package enum Spelling {
  /// The candidate nearest to `name`; `nil` if none is near enough to be the intended one.
  ///
  /// Near enough is a distance of at most a third of the length of the name, and at least one; or a candidate that begins
  /// with `name`. Upper and lower case are not distinguished. Of equally near ones, the first is taken. At most
  /// 64 times 64 steps for each candidate: of longer names only the beginning counts.
  package static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
    let wanted = letters(name)
    guard !wanted.isEmpty else { return nil }
    var best: (candidate: String, distance: Int)?
    var beginning: String?
    for candidate in candidates {
      let letters = letters(candidate)
      if beginning == nil, wanted.count > 1, letters.starts(with: wanted) { beginning = candidate }
      guard let distance = near(wanted, letters), distance < best?.distance ?? .max else { continue }
      best = (candidate, distance)
    }
    return best?.candidate ?? beginning
  }

  private static let shortNames: [(long: String, short: String)] = [
    ("least-recently-used", "lru"), ("least-frequently-used", "lfu"), ("least-recently-stored", "fifo"),
    ("size-adjusted", "size"),
  ]

  /// The short name of an eviction policy for the long one that it has, too; `nil` for any other name.
  package static func shortName(for name: String) -> String? { shortNames.first { $0.long == name }?.short }

  /// The long names that those of `names` have, too.
  package static func longNames(of names: [String]) -> [String] {
    shortNames.filter { names.contains($0.short) }.map(\.long)
  }

  /// Whether `name` and `other` differ by no more than mistyping explains.
  package static func isNear(_ name: String, _ other: String) -> Bool { near(letters(name), letters(other)) != nil }

  private static func letters(_ name: String) -> [Character] { Array(name.lowercased().prefix(64)) }

  /// The distance of two names; `nil` if they are not near.
  private static func near(_ name: [Character], _ other: [Character]) -> Int? {
    let limit = max(1, name.count / 3)
    guard abs(name.count - other.count) <= limit else { return nil }
    let distance = distance(name, other)
    return distance <= limit ? distance : nil
  }

  /// How many letters must be inserted, deleted, replaced or exchanged with their neighbour to turn `a` into `b`.
  ///
  /// This is the optimal string alignment distance, the restricted form of Damerau's (1964), in time and memory
  /// proportional to the product and the sum of the lengths.
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var row = [i + 1]
      row.reserveCapacity(b.count + 1)
      for (j, other) in b.enumerated() {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == b[j - 1], a[i - 1] == other { cost = min(cost, beforeLast[j - 1] + 1) }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
