internal import StorageSPI

/// An entry, as an engine stores and returns it.
typealias Entry = ReadEntry

/// Keys, metadata and payloads for checks to which the details do not matter.
enum Sample {
  /// 2100-01-01T00:00:00Z, the start of each check's clock: so late that a server with its own clock expires no entry
  /// during a check.
  static let start = Timestamp(milliseconds: 4_102_444_800_000)

  /// Ordinary metadata: stored at the start, fresh for a minute, retained for an hour.
  static func metadata(checksum: UInt64 = 1, retainedFor retention: Duration = .seconds(3_600)) -> EntryMetadata {
    EntryMetadata(
      storedAt: start, freshUntil: start.advanced(by: .seconds(60)), retainUntil: start.advanced(by: retention),
      contentType: "application/json", attributes: ["etag": "\"\(checksum)\""], checksum: checksum)
  }

  /// An ordinary entry; its payload and checksum depend on `number`.
  static func entry(_ number: Int = 1, retainedFor retention: Duration = .seconds(3_600)) -> Entry {
    let payload = Array("{\"number\":\(number)}".utf8)
    return Entry(payload: payload, metadata: metadata(checksum: UInt64(number), retainedFor: retention))
  }

  /// A key of exactly `length` bytes, ending in `suffix`.
  static func key(length: Int, namespace: String = "cities", suffix: String = "") throws -> CacheKey {
    let padding = length - namespace.utf8.count - 1 - suffix.utf8.count
    return try CacheKey("\(namespace)/" + String(repeating: "k", count: padding) + suffix)
  }

  /// `count` keys in order, in the namespace `namespace`.
  static func keys(_ count: Int, namespace: String = "cities") throws -> [CacheKey] {
    try (0..<count).map { number in
      let digits = String(number)
      return try CacheKey("\(namespace)/v1/\(String(repeating: "0", count: 5 - digits.count))\(digits)")
    }
  }

  /// A payload of exactly `count` bytes: `block` repeated, with the position every 4,096 bytes, so that no two
  /// stretches are equal. It costs a few copies of memory, even without optimisation.
  static func payload(count: Int, repeating block: [UInt8]) -> [UInt8] {
    var bytes = block
    while bytes.count < count { bytes += bytes }
    bytes.removeLast(bytes.count - count)
    bytes.withUnsafeMutableBufferPointer { bytes in
      for offset in stride(from: 0, to: count - 8, by: 4_096) {
        var rest = 100_000 + offset / 4_096
        for place in (0..<6).reversed() {
          bytes[offset + place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
      }
    }
    return bytes
  }
}

extension SeededGenerator {
  /// A generator that depends only on `seed` and `name`, so that a check sees the same numbers alone as among others.
  init(seed: UInt64, name: String) { self.init(seed: seed ^ FNV1a.hash(name.utf8)) }

  /// Whether an event with a probability of `percent` in a hundred happens.
  mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let word = next()
      for shift in stride(from: 0, to: min(8, count - bytes.count) * 8, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes
  }
}
