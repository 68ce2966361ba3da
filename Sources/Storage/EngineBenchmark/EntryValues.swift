internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// The keys of a benchmark: "bench/" and a number with leading zeros, which makes keys sort like numbers.
struct KeySpace: Sendable {
  static let prefix = "bench/"
  /// The number of keys of each process.
  static let span = Workload.entriesRange.upperBound

  let length: Int
  /// The number in the key of the first entry.
  let base: Int

  /// The maximum number of keys made in advance: about 80 MiB of them.
  private static let maximumMade = 1 << 20
  /// The keys of the first entries, made in advance.
  private var made: [CacheKey] = []

  /// Keys of `length` bytes for one of the processes of a run.
  ///
  /// - Parameter count: the number of keys to expect. Up to `maximumMade` are made now, because making a key takes as
  ///   long as a fast engine takes to read an entry.
  init(length: Int, process: Int = 0, count: Int = 0) throws(CacheError) {
    self.length = length
    base = process * Self.span
    made.reserveCapacity(min(count, Self.maximumMade))
    for number in 0..<min(count, Self.maximumMade) { made.append(try makeKey(number)) }
  }

  /// The key of entry `number`. Keys of other processes are before the first and after the last.
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

  /// Whether `key` is one of the keys of this process.
  func owns(_ key: CacheKey) -> Bool {
    guard key.text.utf8.count == length, key.text.hasPrefix(Self.prefix) else { return false }
    return Int(key.text.dropFirst(Self.prefix.count)).map { (base..<base + Self.span).contains($0) } ?? false
  }
}

/// The contents of an entry in each of its versions: a function of the seed, the number and the version, computed at
/// the speed of reading memory. Every byte that comes back can be checked, and none need be remembered.
///
/// The bytes come from the sequence `tag`, `tag + step`, `tag + 2 * step` and so on: the lower half of each byte, as
/// one of the letters "`abc...o": text without anything that a textual format would have to escape.
struct EntryValues: Sendable {
  let size: Int
  /// The metadata of entries, except for the checksums.
  let metadata: EntryMetadata
  private let seed: UInt64

  init(_ workload: Workload, seed: UInt64, now: Timestamp) {
    self.seed = seed
    size = workload.valueSize
    // Longer than a run takes, and short enough for a server to drop the leftovers of a killed run soon.
    metadata = EntryMetadata(
      storedAt: now, freshUntil: now.advanced(by: .seconds(3_600)), retainUntil: now.advanced(by: .seconds(7_200)),
      contentType: workload.payload == .typed ? "application/json" : "text/plain")
  }

  /// The tag of one version of the entry, different from all others; also both checksums in its metadata.
  @inline(__always)
  func tag(_ number: Int, _ version: UInt32) -> UInt64 {
    let place = SeededGenerator.mixed(seed &+ UInt64(number) &* SeededGenerator.step)
    return SeededGenerator.mixed(place &+ UInt64(version))
  }

  /// The metadata of the version with the tag `tag`.
  func metadata(tag: UInt64) -> EntryMetadata {
    var result = metadata
    result.checksum = tag
    result.payloadChecksum = tag
    return result
  }

  func payload(tag: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var sequence = tag
      for offset in stride(from: 0, to: size - 7, by: 8) {
        bytes.storeBytes(of: Self.letters(sequence), toByteOffset: offset, as: UInt64.self)
        sequence &+= SeededGenerator.step
      }
      let rest = UInt64(littleEndian: Self.letters(sequence))
      for offset in size & ~7..<size { bytes[offset] = UInt8(truncatingIfNeeded: rest >> UInt64((offset & 7) * 8)) }
      count = size
    }
  }

  /// Whether `payload` is the value with the tag `tag`. Cost: one pass.
  func isPayload(_ payload: Span<UInt8>, tag: UInt64) -> Bool {
    guard payload.count == size else { return false }
    return payload.withUnsafeBufferPointer { Self.matches(UnsafeRawBufferPointer($0), tag) }
  }

  private static func matches(_ bytes: UnsafeRawBufferPointer, _ tag: UInt64) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    var difference: UInt64 = 0
    var sequence = tag
    let words = bytes.count / 8
    for index in 0..<words {
      difference |= start.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self) ^ letters(sequence)
      sequence &+= SeededGenerator.step
    }
    let rest = UInt64(littleEndian: letters(sequence))
    for offset in words * 8..<bytes.count {
      difference |= UInt64(bytes[offset] ^ UInt8(truncatingIfNeeded: rest >> UInt64((offset & 7) * 8)))
    }
    return difference == 0
  }

  @inline(__always)
  private static func letters(_ word: UInt64) -> UInt64 {
    ((word & 0x0F0F_0F0F_0F0F_0F0F) | 0x6060_6060_6060_6060).littleEndian
  }
}

/// The version of each entry that a store must contain: the committed one, and the one that is being written.
///
/// One worker at a time writes an entry. So a reader needs only two numbers to judge its result: the version that was
/// committed before the read began, and the one whose writing had begun when the read ended. Both are in one word, read
/// at once. A worker that wants an entry that another is writing takes the next one instead. That is rare, and good for
/// the measurement: concurrent writes of one entry would say more about luck than about an engine.
///
/// `@unchecked` because of the pointer: it is set once, points only to atomics, and is freed with the ledger.
final class EntryLedger: @unchecked Sendable {
  /// The number of entries.
  let count: Int

  /// The committed version in the upper half, the begun one in the lower; 0 if there is none.
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>

  /// A ledger for a store without entries. Takes eight bytes per entry.
  init(count: Int) {
    self.count = count
    cells = .allocate(capacity: count)
    for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    cells.deinitialize(count: count)
    cells.deallocate()
  }

  /// The version that a read which begins now must see, or a later one; 0 if the entry need not exist.
  @inline(__always)
  func committed(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number) >> 32) }

  /// The latest version that a read which ends now can have seen.
  @inline(__always)
  func begun(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number)) }

  /// Begins to write the entry, and returns its new version; `nil` if another worker is writing the entry.
  func beginWrite(_ number: Int) -> UInt32? {
    let current = load(number)
    let version = UInt32(truncatingIfNeeded: current)
    guard UInt32(truncatingIfNeeded: current >> 32) == version else { return nil }
    let next = version &+ 1
    let isMine = cells[number].compareExchange(
      expected: current, desired: UInt64(version) << 32 | UInt64(next), ordering: .acquiringAndReleasing
    ).exchanged
    return isMine ? next : nil
  }

  /// Records that the version from `beginWrite` is committed.
  func endWrite(_ number: Int, _ version: UInt32) {
    cells[number].store(UInt64(version) << 32 | UInt64(version), ordering: .releasing)
  }

  @inline(__always)
  private func load(_ number: Int) -> UInt64 { cells[number].load(ordering: .acquiring) }
}
