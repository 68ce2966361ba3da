internal import StorageSPI

/// The keys of a benchmark: "bench/" and a number with leading zeros, so that the order of keys is that of numbers.
struct KeySpace: Sendable {
  /// What all keys begin with.
  static let prefix = "bench/"

  /// The length of a key.
  let length: Int
  /// The number in the key of the first entry.
  let base: Int

  /// The greatest number of keys that are made in advance: some 80 MiB of them.
  private static let maximumMade = 1 << 20
  /// The keys of the first entries, made in advance.
  private var made: [CacheKey] = []

  /// Keys of `length` bytes for one share of the entries.
  ///
  /// - Parameter count: how many there are going to be. As many as are sensible are made now, because to make one takes as
  ///   long as a quick engine takes to read an entry.
  init(length: Int, share: BenchmarkShare?, count: Int = 0) throws(StorageError) {
    self.length = length
    base = (share?.index ?? 0) * Self.span
    made.reserveCapacity(min(count, Self.maximumMade))
    for number in 0..<min(count, Self.maximumMade) { made.append(try makeKey(number)) }
  }

  /// The key of the entry number `number`. Those of other shares are before the first and behind the last.
  @inline(__always)
  func key(_ number: Int) throws(StorageError) -> CacheKey {
    made.indices.contains(number) ? made[number] : try makeKey(number)
  }

  private func makeKey(_ number: Int) throws(StorageError) -> CacheKey {
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

  /// The number of the entry under `key`; `nil` if it is no key of these.
  func number(of key: CacheKey) -> Int? {
    guard key.text.utf8.count == length, key.text.hasPrefix(Self.prefix) else { return nil }
    return Int(key.text.dropFirst(Self.prefix.count)).map { $0 - base }
  }

  /// Whether `key` is in this share of the entries.
  func owns(_ key: CacheKey) -> Bool { number(of: key).map { (0..<Self.span).contains($0) } ?? false }

  /// How many numbers a share has for its entries: those of the load, and as many for insertions.
  static let span = Workload.entriesRange.upperBound * 2
}
