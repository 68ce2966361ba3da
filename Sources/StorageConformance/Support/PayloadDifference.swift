/// Where two payloads differ.
struct PayloadDifference: CustomStringConvertible {
  /// What was expected and what was got, in one line.
  let description: String

  /// The first difference of `got` from `expected`; `nil` where they are the same.
  ///
  /// Payloads of one size are compared by hash, which the standard library does fast even in a build without
  /// optimisation; the bytes are looked at one by one only where the hashes differ.
  init?(got: [UInt8], expected: [UInt8]) {
    if got.count == expected.count, Self.hash(got) == Self.hash(expected) { return nil }
    let offset = zip(got, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let position =
      offset.map { "byte \($0): expected \(expected[$0]), got \(got[$0])" }
      ?? "one is the beginning of the other"
    description = "payload: expected \(expected.count) bytes, got \(got.count); \(position)"
  }

  private static func hash(_ bytes: [UInt8]) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
