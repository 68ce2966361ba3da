internal import StorageSPI

/// The keys of a benchmark: "bench/" and a number with leading zeros, so that keys sort like numbers.
struct KeySpace: Sendable {
  /// The prefix of all keys.
  static let prefix = "bench/"

  /// The length of a key.
  let length: Int
  /// The number in the key of the first entry.
  let base: Int

  /// The maximum number of keys made in advance: about 80 MiB of them.
  private static let maximumMade = 1 << 20
  /// The keys of the first entries, made in advance.
  private var made: [CacheKey] = []

  /// Keys of `length` bytes for one share of the entries.
  ///
  /// - Parameter count: the number of keys to expect. Up to `maximumMade` are made now, because making a key takes as
  ///   long as a fast engine takes to read an entry.
  init(length: Int, share: BenchmarkShare?, count: Int = 0) throws(CacheError) {
    self.length = length
    base = (share?.index ?? 0) * Self.span
    made.reserveCapacity(min(count, Self.maximumMade))
    for number in 0..<min(count, Self.maximumMade) { made.append(try makeKey(number)) }
  }

  /// The key of entry `number`. Keys of other shares are before the first and after the last.
  @inline(__always)
  func key(_ number: Int) throws(CacheError) -> CacheKey {
    made.indices.contains(number) ? made[number] : try makeKey(number)
  }

  private func makeKey(_ number: Int) throws(CacheError) -> CacheKey {
    let text = String(unsafeUninitializedCapacity: length) { buffer in
      var rest = number + base
      for index in (Self.prefix.utf8.count..<length).reversed() {
        let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
        buffer.initializeElement(at: index, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: remainder))
        rest = quotient
      }
      for (index, byte) in Self.prefix.utf8.enumerated() { buffer.initializeElement(at: index, to: byte) }
      return length
    }
    return try CacheKey(text)
  }

  /// The number of the entry under `key`; `nil` if the key is not one of these.
  func number(of key: CacheKey) -> Int? {
    guard key.text.utf8.count == length, key.text.hasPrefix(Self.prefix) else { return nil }
    return Int(key.text.dropFirst(Self.prefix.count)).map { $0 - base }
  }

  /// Whether `key` belongs to this share of the entries.
  func owns(_ key: CacheKey) -> Bool { number(of: key).map { (0..<Self.span).contains($0) } ?? false }

  /// The number of entry numbers in a share: those of the load, and as many for insertions.
  static let span = Workload.entriesRange.upperBound * 2
}
