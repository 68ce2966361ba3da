import EngineAPI

/// Reads the groups of `lanes` writers until each has reached `times`, and checks that no look at the store shows parts
/// of different batches, an older state than before, or a payload that is not its metadata's.
struct Watcher {
  private let engine: any StorageEngine
  private let groups: [Group]
  private let times: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    groups = (0..<(try arguments.number("lanes", default: 1))).map { Group(lane: $0) }
    times = try arguments.number("times", default: 1)
  }

  func run() async throws(CacheError) {
    var waiting = Waiting()
    var looks = 0
    var seen = [UInt64](repeating: 0, count: groups.count)
    while seen.contains(where: { $0 < UInt64(times) }) {
      looks += 1
      let page = try await waiting.measure { () throws(CacheError) in try await engine.scan(ScanRequest()) }
      let found = Dictionary(uniqueKeysWithValues: page.entries.map { ($0.key, $0.metadata.checksum) })
      for group in groups {
        let number = try together(group, found)
        try advance(&seen[group.lane], to: number, group)
        for part in Group.namespaces.indices {
          let read = try await waiting.measure { () throws(CacheError) in try await numberByReading(group, part) }
          try advance(&seen[group.lane], to: read, group)
        }
      }
      if looks == 1 { Line.write("LOOKED") }
    }
    waiting.report()
    Line.write("LOOKS \(looks)")
  }

  /// The number that all parts have in one look; 0 if there is no part.
  private func together(_ group: Group, _ found: [CacheKey: UInt64]) throws(CacheError) -> UInt64 {
    var numbers: Set<UInt64> = []
    for part in Group.namespaces.indices { numbers.insert(found[try group.key(part)] ?? 0) }
    guard let number = numbers.first, numbers.count == 1 else {
      throw CacheError(.damaged, "group \(group.lane) is torn: \(numbers.sorted())")
    }
    return number
  }

  private func advance(_ seen: inout UInt64, to number: UInt64, _ group: Group) throws(CacheError) {
    guard number >= seen else {
      throw CacheError(.damaged, "group \(group.lane) went back from \(seen) to \(number)")
    }
    seen = number
  }

  private func numberByReading(_ group: Group, _ part: Int) async throws(CacheError) -> UInt64 {
    let number = try await engine.read(try group.key(part)) { payload, metadata throws(CacheError) in
      let expected = Group.payload(part, Int(metadata.checksum))
      guard payload.withUnsafeBufferPointer({ $0.elementsEqual(expected) }) else {
        throw CacheError(.damaged, "part \(part) of group \(group.lane) has the payload of another batch")
      }
      return metadata.checksum
    }
    return number ?? 0
  }
}
