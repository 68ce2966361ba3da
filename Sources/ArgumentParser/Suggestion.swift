/// Finds what somebody probably meant who mistyped a name.
public enum Suggestion {
  /// The candidate nearest to `name`, if it is near enough to be what was meant.
  ///
  /// Near enough is a distance of at most a third of the length of the name, and at least one; or a candidate that
  /// begins with `name`. Upper and lower case are not distinguished. Of equally near ones, the first is taken.
  public static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased())
    guard !wanted.isEmpty else { return nil }
    let limit = max(1, wanted.count / 3)
    var best: (candidate: String, distance: Int)?
    var beginning: String?
    for candidate in candidates {
      let letters = Array(candidate.lowercased())
      if beginning == nil, wanted.count > 1, letters.starts(with: wanted) { beginning = candidate }
      guard abs(letters.count - wanted.count) <= limit else { continue }
      let distance = distance(wanted, letters)
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.candidate ?? beginning
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
