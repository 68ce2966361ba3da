internal import Glibc
internal import StorageSPI

/// A clock that stands still: reads do not ask it.
struct FixedClock: WallClock {
  let now = Timestamp(milliseconds: 1_767_225_600_000)
}

/// SplitMix64 (Steele, Lea, Flood 2014), as in Floor/floor.h.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64 = 42

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// The key of the entry with the given number, 16 bytes.
func key(_ number: Int) throws(StorageError) -> CacheKey {
  let digits = String(number)
  return try CacheKey("bench/" + String(repeating: "0", count: 10 - digits.count) + digits)
}

/// Stores entries of one size, a thousand in a batch.
func fill(_ engine: any StorageEngine, entries: Int, payloadBytes: Int) async throws {
  let now = FixedClock().now
  let metadata = EntryMetadata(
    storedAt: now, freshUntil: now.advanced(by: .seconds(3_600)), retainUntil: now.advanced(by: .seconds(86_400)),
    contentType: "application/json", checksum: 0x1234_5678_9ABC_DEF0)
  let payload = [UInt8](repeating: UInt8(ascii: "a"), count: payloadBytes)
  for start in stride(from: 0, to: entries, by: 1_000) {
    var batch = WriteBatch()
    for number in start..<min(start + 1_000, entries) {
      batch.put(try key(number), payload: payload, metadata: metadata)
    }
    try await engine.apply(batch)
  }
}

/// Reads as many random keys once to warm up and once for the measurement, and prints nanoseconds of processor time a
/// read and a sum over the bytes.
func measure(_ engine: any StorageEngine, entries: Int, reads: Int) async throws {
  var random = SplitMix64()
  var keys: [CacheKey] = []
  for _ in 0..<reads { keys.append(try key(Int(random.next() % UInt64(entries)))) }
  var sum = try await readAll(keys, engine)
  let start = processorNanoseconds()
  sum &+= try await readAll(keys, engine)
  print(Double(processorNanoseconds() - start) / Double(reads), sum)
}

@inline(never)
private func readAll(_ keys: [CacheKey], _ engine: any StorageEngine) async throws -> UInt64 {
  var sum: UInt64 = 0
  for key in keys {
    let value = try await engine.read(key) { payload, metadata throws(StorageError) in
      UInt64(payload[0]) &+ UInt64(payload.count) &+ metadata.checksum
    }
    guard let value else { exit(1) }
    sum &+= value
  }
  return sum
}

private func processorNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
