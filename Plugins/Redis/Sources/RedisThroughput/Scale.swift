import Platform
import RedisStorage
import StorageSPI

/// What a large cluster costs, calculated from a node with a few slots, which are as full as all would be. See
/// docs/redis-at-scale.md.
///
/// It takes two servers in the mode for clusters, new and without slots, and makes a cluster of them. The first one is the
/// node that is measured; the second one has all other slots.
struct Scale {
  private static let slotCount = 16_384
  /// How many entries each slot gets for listings, which ask for eight of each.
  private static let fewEntries = 16
  private static let putCount = 20_000
  private static let week: Int64 = 7 * 86_400_000
  private static let order = EvictionOrder(.least(.lastUsedAt), .least(.storedAt))

  private let (nodes, total): (Int, Int)
  /// How many slots are filled, and with how many entries each.
  private let (slots, perSlot): (Int, Int)
  private let url: String
  private let node: Figures
  private let other: RawConnection
  /// What follows in a key so that it belongs to some slot: by the difference between that and the slot without it.
  private let endings = Self.endings()

  /// - Parameter arguments: the URLs of the two servers; then the numbers to calculate for: of nodes (100), of entries (a
  ///   billion), and of slots to fill (4).
  init(_ arguments: ArraySlice<String>) async throws {
    let numbers = arguments.dropFirst(2).compactMap { Int($0) }
    func number(_ place: Int, _ usual: Int) -> Int { numbers.indices.contains(place) ? max(1, numbers[place]) : usual }
    (nodes, total, slots) = (number(0, 100), number(1, 1_000_000_000), max(2, number(2, 4)))
    perSlot = total / Self.slotCount
    let urls = Array(arguments.prefix(2))
    (url, other) = (urls[0], try RawConnection(urls[1]))
    let first = try RawConnection(url)
    try Self.tell(first, "CLUSTER ADDSLOTSRANGE 0 \(slots - 1)")
    try Self.tell(other, "CLUSTER ADDSLOTSRANGE \(slots) \(Self.slotCount - 1)")
    try Self.tell(first, "CLUSTER MEET \(other.host) \(other.port)")
    for server in [first, other] {
      // A slot with few entries then has an index of the kind of a full one.
      try Self.tell(server, "CONFIG SET zset-max-listpack-entries 0")
      repeat {
        try await Task.sleep(for: .milliseconds(100))
        try server.send(RawConnection.command("CLUSTER INFO"))
      } while try !server.receiveText().contains("cluster_state:ok")
    }
    node = try await Figures(RedisPlugin(.cluster), url: url, prefix: "scale", ["timeout": .integer(60_000)])
  }

  func measure() async throws {
    let listing = try await measureListing()
    let large = try await memory(of: 1_000, slots: 0..<1)
    try Self.tell(node.raw, "FLUSHALL")
    let small = try await memory(of: 100, slots: 0..<slots)
    row("memory of an entry of 100 bytes", small, "bytes")
    row("memory of an entry of 1,000 bytes", large, "bytes")

    let keys = try (0..<1_000 * slots).map { number in try key(number / slots, slot: number % slots) }
    let read = try await cost(50_000, callers: 16) { number in
      let count = try await node.engine.read(keys[number % keys.count]) { bytes, _ throws(CacheError) in bytes.count }
      guard count == 100 else { throw CacheError(.damaged, "a read has found something else") }
    }
    row("a read", read.node, "us of the node; \(Int(read.rate)) a second in all")
    let put = try await puts(from: perSlot, limit: 1 << 40)
    row("a put", put.node, "us of the node; \(Int(put.rate)) a second in all")
    let full = try await puts(from: 2 * perSlot, limit: slots * perSlot + Self.putCount)
    row("a put into a full store", full.node, "us of the node; \(Int(full.rate)) a second in all")
    // The other node has none of these entries: it is only asked for the totals of its slots, or for room.
    row("a process that fills it asks for totals", full.otherScripts * full.rate, "times a second, with 16 callers")
    row(
      "the totals of an empty slot", full.other / full.otherScripts / Double(Self.slotCount - slots), "us of the node")
    let count = try await cost(20) { _ in _ = try await node.engine.statistics() }
    row("counting a full slot", count.node / Double(slots), "us of the node")
    row("counting an empty slot", count.other / Double(Self.slotCount - slots), "us of the node")
    let wait = try await silence()
    row("a read when the node has gone silent", wait.first, "ms, with a timeout of 1 s")
    row("the reads after that one", wait.next, "ms each")
    row("from the node's return to an answer", wait.back, "ms")
    let moved = try await move()
    row("moving a slot: its index", moved.bytes / 1e6, "MB")
    row("moving a slot: its index", moved.index, "ms, in which the node does nothing else")
    row("moving a slot: its entries", moved.rate, "a second")
    row("moving a slot: longest read of another", moved.longest, "ms")

    report("\n\(total) entries on \(nodes) nodes:")
    let (share, entries) = (Double(Self.slotCount) / Double(nodes), Double(total) / Double(nodes))
    row("slots of a node", share, "with \(perSlot) entries each")
    row("memory of a node, 100 bytes an entry", entries * small / 1e9, "GB")
    row("memory of a node, 1,000 bytes an entry", entries * large / 1e9, "GB")
    row("reads of a node", 1e6 / read.node, "a second at most")
    row("puts of a node", 1e6 / put.node, "a second at most")
    row("puts of a node whose store is full", 1e6 / full.node, "a second at most")
    let countTime = share * count.node / Double(slots)
    row("a count, as for stats", countTime / 1_000, "ms of each node")
    row("first page of a listing", share * listing.page / 1_000, "ms of each node")
    row("an export of all", Double(total) / listing.rate / 3_600, "hours")
    row("moving a slot", Double(perSlot) / moved.rate + moved.index / 1_000, "s")
    row("moving the slots of a node", (entries / moved.rate + share * moved.index / 1_000) / 60, "minutes")
    try await node.engine.close()
  }

  /// Lists the entries of all slots. Returns what a slot costs for the first page, in microseconds of its node, and how
  /// many entries a second one process exports.
  private func measureListing() async throws -> (page: Double, rate: Double) {
    try await fill(0..<Self.slotCount, entries: Self.fewEntries, bytes: 100)
    let page = try await cost(5) { number in
      _ = try await node.engine.scan(KeyRange(), limit: 1_000)
      // Otherwise the next scan goes on with what this one has listed.
      try await node.engine.apply(try batch(0..<1, slot: 0, 100))
    }
    let slot = (page.node + page.other) / Double(Self.slotCount)
    row("first page of a listing, a slot", slot, "us of the node")
    row("first page of a listing, 16,384 slots", page.time / 1_000, "ms for its caller")
    let exported = 100_000
    let export = try await cost(1) { _ in try await self.export(exported) }
    row("export", Double(exported) * export.rate, "entries a second")
    row("export, an entry", (export.node + export.other) / Double(exported), "us of the nodes")
    for server in [node.raw, other] { try Self.tell(server, "FLUSHALL") }
    return (slot, Double(exported) * export.rate)
  }

  /// What a call costs: microseconds for its caller, and of the main threads of the two nodes; scripts of the second node;
  /// and how many calls a second there are.
  private struct Cost {
    let (time, node, other, otherScripts, rate): (Double, Double, Double, Double, Double)
  }

  private func cost(
    _ calls: Int, callers: Int = 1, _ call: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Cost {
    let before = (try node.usage(), try Figures.usage(of: other))
    let rate = try await RedisThroughput.rate(callers: callers, calls: calls, call)
    let spent = (try node.usage() - before.0, try Figures.usage(of: other) - before.1)
    return Cost(
      time: Double(callers) * 1e6 / rate, node: spent.0.mainThread * 1e6 / Double(calls),
      other: spent.1.mainThread * 1e6 / Double(calls), otherScripts: spent.1.script.count / Double(calls), rate: rate)
  }

  /// Fills slots with entries of `bytes`, and returns what each of them takes of the memory.
  private func memory(of bytes: Int, slots: Range<Int>) async throws -> Double {
    let before = try node.settledMemory()
    try await fill(slots, entries: perSlot, bytes: bytes)
    return (try node.settledMemory() - before) / Double(slots.count * perSlot)
  }

  private func fill(_ slots: Range<Int>, entries: Int, bytes: Int) async throws {
    _ = try await RedisThroughput.rate(callers: 8, calls: slots.count) { call in
      for first in stride(from: 0, to: entries, by: 1_000) {
        let page = first..<min(first + 1_000, entries)
        try await node.engine.apply(try batch(page, slot: slots.lowerBound + call, bytes))
      }
    }
  }

  /// Puts of new entries into the filled slots, in turns.
  private func puts(from first: Int, limit: Int) async throws -> Cost {
    try await cost(Self.putCount, callers: 16) { call in
      let number = first + call / slots
      var batch = try batch(number..<number + 1, slot: call % slots, 100)
      batch.bounds = StoreBounds(maxEntries: limit, maxPayloadBytes: 1 << 50)
      _ = try await node.engine.evictor?.apply(batch, evicting: Self.order)
    }
  }

  /// Lists and reads entries as an export does.
  private func export(_ count: Int) async throws {
    var (range, left) = (KeyRange(), count)
    while left > 0 {
      let page = try await node.engine.scan(range, limit: 1_000)
      for first in stride(from: 0, to: page.count, by: 256) {
        _ = try await node.engine.batchReader?.read(page[first..<min(first + 256, page.count)].map(\.key))
      }
      (range, left) = (KeyRange(after: page.last?.key), page.isEmpty ? 0 : left - page.count)
    }
  }

  /// What readers wait for, in milliseconds, when the node answers nothing for four seconds.
  private func silence() async throws -> (first: Double, next: Double, back: Double) {
    let impatient = try await Figures(
      RedisPlugin(.cluster), url: url, prefix: "scale", ["timeout": .integer(1_000)])
    let key = try key(0, slot: 1)
    func time() async -> (wait: Double, isAnswered: Bool) {
      let start = ContinuousClock.now
      do throws(CacheError) {
        try await impatient.engine.read(key) { _, _ throws(CacheError) in }
        return (start.duration(to: .now) / .milliseconds(1), true)
      } catch {
        return (start.duration(to: .now) / .milliseconds(1), false)
      }
    }
    _ = await time()
    try Self.tell(node.raw, "CLIENT PAUSE 4000 ALL")
    let back = ContinuousClock.now.advanced(by: .seconds(4))
    let first = await time().wait
    var next = 0.0
    for _ in 0..<100 { next += await time().wait / 100 }
    while await !time().isAnswered { try await Task.sleep(for: .milliseconds(5)) }
    let late = back.duration(to: .now) / .milliseconds(1)
    try await impatient.engine.close()
    return (first, next, late)
  }

  /// Moves the first slot to the other node, as `redis-cli --cluster reshard` does, while another slot is read.
  private func move() async throws -> (bytes: Double, index: Double, rate: Double, longest: Double) {
    let ids = try [node.raw, other].map { server throws(CacheError) in
      try server.send(RawConnection.command("CLUSTER MYID"))
      return try server.receiveText()
    }
    try Self.tell(other, "CLUSTER SETSLOT 0 IMPORTING \(ids[0])")
    try Self.tell(node.raw, "CLUSTER SETSLOT 0 MIGRATING \(ids[1])")
    try node.raw.send(RawConnection.command("CLUSTER GETKEYSINSLOT 0 1000000"))
    let names = try (0..<node.raw.receiveNumber()).map { _ throws(CacheError) in try node.raw.receiveText() }
    let (index, entries) = (names.filter { $0.hasSuffix(":index") }, names.filter { !$0.hasSuffix(":index") })
    try node.raw.send(RawConnection.command("DUMP \(index.joined())"))
    let bytes = try node.raw.receive() ?? 0

    let key = try key(0, slot: 1)
    let reader = Task {
      var longest = Duration.zero
      while !Task.isCancelled {
        let start = ContinuousClock.now
        _ = try? await node.engine.read(key) { _, _ throws(CacheError) in }
        longest = max(longest, start.duration(to: .now))
      }
      return longest
    }
    let start = ContinuousClock.now
    try migrate(index)
    let indexTime = start.duration(to: .now)
    for first in stride(from: 0, to: entries.count, by: 10) {
      try migrate(Array(entries[first..<min(first + 10, entries.count)]))
    }
    let time = start.duration(to: .now) - indexTime
    reader.cancel()
    for server in [other, node.raw] { try Self.tell(server, "CLUSTER SETSLOT 0 NODE \(ids[1])") }
    return (
      Double(bytes), indexTime / .milliseconds(1), Double(entries.count) / (time / .seconds(1)),
      await reader.value / .milliseconds(1)
    )
  }

  private func migrate(_ keys: [String]) throws(CacheError) {
    try Self.tell(node.raw, "MIGRATE \(other.host) \(other.port)  0 60000 KEYS \(keys.joined(separator: " "))")
  }

  private static func tell(_ server: RawConnection, _ command: String) throws(CacheError) {
    try server.send(RawConnection.command(command))
    try server.receive()
  }

  /// The entry that is number `number` of those in `slot`. Its key has 40 characters, in no order.
  private func key(_ number: Int, slot: Int) throws(CacheError) -> CacheKey {
    let random = (UInt64(number) << 14 | UInt64(slot)) &* 0x9E37_79B9_7F4A_7C15
    let digits = String(random, radix: 16)
    let name = "cities/v1/page=\(String(repeating: "0", count: 16 - digits.count))\(digits)/sort="
    return try CacheKey(name + endings[Self.slot(name + Self.noEnding) ^ Self.slot(Self.noEnding) ^ slot])
  }

  private func batch(_ numbers: Range<Int>, slot: Int, _ bytes: Int) throws(CacheError) -> WriteBatch {
    // Entries end at all times of a week, as in a store that has long been used.
    try Figures.batch(numbers, bytes, key: { number throws(CacheError) in try key(number, slot: slot) }) { number in
      Int64(number) * 7_919_000 % Self.week + 3_600_000
    }
  }

  private static let noEnding = "000"

  /// For each slot, letters and digits that are in it by themselves. A slot is a sum over the places of a text, so they
  /// change the slot of what they follow by as much as that of `noEnding`.
  private static func endings() -> [String] {
    var endings = [String](repeating: "", count: slotCount)
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for first in digits {
      for second in digits {
        for third in digits {
          let ending = String([first, second, third])
          endings[slot(ending)] = ending
        }
      }
    }
    return endings
  }

  /// The slot of a key on a cluster: its CRC16.
  private static func slot(_ key: String) -> Int {
    var checksum: UInt16 = 0
    for byte in key.utf8 {
      checksum ^= UInt16(byte) << 8
      for _ in 0..<8 { checksum = checksum & 0x8000 == 0 ? checksum << 1 : checksum << 1 ^ 0x1021 }
    }
    return Int(checksum) % slotCount
  }

  private func row(_ what: String, _ number: Double, _ unit: String) {
    report("\(Figures.padded(what, 42))\(Figures.aligned(number)) \(unit)")
  }
}
