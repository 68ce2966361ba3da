/// The difference between two payloads.
struct PayloadDifference: CustomStringConvertible {
  /// The expected and the actual bytes, in one line.
  let description: String

  /// The first difference of `got` from `expected`; `nil` if they are equal.
  ///
  /// Payloads are compared by hash, which the standard library computes fast even in a build without optimisation.
  /// Cost: a pass over the bytes; if they differ, two more to find the place.
  init?(got: [UInt8], expected: [UInt8]) {
    let shared = min(got.count, expected.count)
    let isPrefix = Self.hash(got[..<shared]) == Self.hash(expected[..<shared])
    if isPrefix, got.count == expected.count { return nil }
    let offset = isPrefix ? shared : Self.firstDifference(got, expected, in: 0..<shared)
    let (gotByte, expectedByte) = (got.dropFirst(offset).first, expected.dropFirst(offset).first)
    description =
      "payload: expected \(expected.count) bytes, got \(got.count); at offset \(offset) expected "
      + "\(expectedByte.map(String.init) ?? "the end"), got \(gotByte.map(String.init) ?? "the end")"
  }

  /// The first position in `range`, which contains a difference, at which the two differ.
  private static func firstDifference(_ got: [UInt8], _ expected: [UInt8], in range: Range<Int>) -> Int {
    var range = range
    while range.count > 1 {
      let half = range.lowerBound..<(range.lowerBound + range.count / 2)
      range = hash(got[half]) == hash(expected[half]) ? half.upperBound..<range.upperBound : half
    }
    return range.lowerBound
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
