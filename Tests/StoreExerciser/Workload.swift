import SeededNumbers
import EngineAPI

/// The batches of one writer: each follows only from the seed, the writer's number and its own number. So the number of
/// committed batches determines the content of the store.
struct Workload: Sendable {
  /// A batch's change of one entry.
  enum Step: Sendable, Hashable {
    case put(Int)
    /// Replaces the metadata of an entry and keeps its payload; puts the entry if it is not there.
    case renew(Int)
    case remove(Int)
  }

  /// Which batches wrote the two parts of an entry last.
  struct Version: Sendable, Hashable {
    var payload: Int
    var metadata: Int
  }

  static let namespaces = ["alpha", "beta", "gamma"]
  static let entries = 24
  /// The namespace of expired entries. No reader misses them.
  static let expiredNamespace = "expired"

  let seed: UInt64
  /// The writer's number. Writers have no entries in common.
  let lane: Int

  init(_ arguments: Arguments, lane: Int) throws(CacheError) {
    self.lane = lane
    seed = UInt64(try arguments.number("seed", default: 1))
  }

  /// The steps of the batch `number`: one for one entry, or for up to six.
  func steps(_ number: Int) -> [Step] {
    var random = generator(number, 0)
    let count = Bool.random(using: &random) ? 1 : Int.random(in: 2...6, using: &random)
    return (0..<count).map { _ in
      let entry = Int.random(in: 0..<Self.entries, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return .remove(entry)
      case 1...2: return .renew(entry)
      default: return .put(entry)
      }
    }
  }

  /// The batch `number`, for a store with the entries `state`, which it changes as the batch does.
  func batch(_ number: Int, changing state: inout [Int: Version]) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for step in steps(number) {
      switch step {
      case .put(let entry), .renew(let entry):
        let before = step == .renew(entry) ? state[entry] : nil
        let version = Version(payload: before?.payload ?? number, metadata: number)
        let metadata = metadata(entry, version)
        if let before {
          batch.update(try key(entry), metadata: metadata, from: self.metadata(entry, before).checksum)
        } else {
          batch.put(try key(entry), payload: payload(entry, number), metadata: metadata)
        }
        state[entry] = version
      case .remove(let entry):
        batch.remove(try key(entry))
        state[entry] = nil
      }
    }
    return batch
  }

  /// The entries after the first `count` batches.
  func state(after count: Int) -> [Int: Version] {
    var state: [Int: Version] = [:]
    for number in 0..<count { advance(&state, by: number) }
    return state
  }

  /// Changes `state` as the batch `number` does.
  func advance(_ state: inout [Int: Version], by number: Int) {
    for step in steps(number) {
      switch step {
      case .put(let entry): state[entry] = Version(payload: number, metadata: number)
      case .renew(let entry): state[entry] = Version(payload: state[entry]?.payload ?? number, metadata: number)
      case .remove(let entry): state[entry] = nil
      }
    }
  }

  func key(_ entry: Int) throws(CacheError) -> CacheKey {
    let namespace = Self.namespaces[entry % Self.namespaces.count]
    // Some are longer than the keys that every engine stores directly.
    let filling = entry % 8 == 7 ? "/filling=" + String(repeating: "x", count: 600) : ""
    return try CacheKey("\(namespace)/v1/lane=\(lane)\(filling)/entry=\(entry)")
  }

  func metadata(_ entry: Int, _ version: Version) -> EntryMetadata {
    let number = version.metadata
    var random = generator(number, entry + 1)
    let checksum = random.next()
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_000_000 + Int64(number)), freshUntil: Timestamp(milliseconds: 2_000_000),
      retainUntil: .distantFuture, contentType: entry % 2 == 0 ? "application/json" : "x/\(entry)",
      attributes: entry % 3 == 0 ? ["batch": "\(number)", "etag": "\"\(checksum)\""] : [:],
      payloadChecksum: UInt64(version.payload), checksum: checksum)
  }

  /// Text for half of the small ones, any bytes for the others.
  func payload(_ entry: Int, _ number: Int) -> [UInt8] {
    var random = generator(number, -entry - 1)
    let size = Self.size(&random)
    if size < 4_000, Bool.random(using: &random) {
      return (0..<size).map { _ in UInt8.random(in: 0x20...0x7E, using: &random) }
    }
    let start = random.next()
    let factor = random.next() | 1
    return [UInt8](unsafeUninitializedCapacity: (size + 7) & ~7) { buffer, count in
      let words = UnsafeMutableRawBufferPointer(buffer).bindMemory(to: UInt64.self)
      for index in words.indices { words.initializeElement(at: index, to: start &+ UInt64(index) &* factor) }
      count = size
    }
  }

  private static func size(_ random: inout SeededGenerator) -> Int {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: Int.random(in: 65_537...200_000, using: &random)
    case 1...2: Int.random(in: 12_000...65_536, using: &random)
    case 3...8: Int.random(in: 2_000...12_000, using: &random)
    default: Int.random(in: 0...2_000, using: &random)
    }
  }

  private func generator(_ number: Int, _ part: Int) -> SeededGenerator {
    var mixed = SeededGenerator(seed: seed &+ UInt64(lane) &* 0x9E37_79B9 &+ UInt64(number) << 32)
    return SeededGenerator(seed: mixed.next() ^ UInt64(bitPattern: Int64(part)))
  }
}
