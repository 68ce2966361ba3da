import Platform
import RedisStorage
import StorageSPI

/// What the engine costs beside the plain commands GET and SET on the same server, in one run and in turns, so that
/// whatever else the machine does slows both.
///
/// It knows nothing of how the engine keeps its entries. What it stores has a prefix of its own, and is removed again.
/// `Scale` measures with the same functions.
struct Figures {
  private static let rounds = 20
  private static let callsInRound = 500
  private static let entries = 100_000
  private static let lifetime: Int64 = 3_600_000
  /// The two prefixes, equally long.
  private static let (prefix, rawPrefix) = ("figures-a", "figures-b")

  let engine: any StorageEngine
  let raw: RawConnection

  init(_ plugin: any StoragePlugin, url: String, prefix: String, _ values: [String: OptionValue] = [:]) async throws {
    let values = values.merging(["url": .text(url), "prefix": .text(prefix)]) { $1 }
    engine = try await plugin.open(
      EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    raw = try RawConnection(url)
  }

  static func measure(_ plugin: any StoragePlugin, url: String) async throws {
    let figures = try await Figures(plugin, url: url, prefix: prefix)
    report("                                    engine        raw    ratio")
    for bytes in [100, 1_000] { try await figures.measureReads(bytes) }
    try await figures.measurePuts()
    try await figures.measureMemory()
    for tasks in [1, 4, 16, 64] { try await figures.measureThroughput(tasks) }
    try await figures.empty()
    try await figures.engine.close()
  }

  /// Hits and GET, one after another.
  private func measureReads(_ bytes: Int) async throws {
    let (key, rawKey) = (try Self.key(0), Self.rawKey(0))
    try await engine.apply(try Self.batch(0..<1, bytes))
    try set(0..<1, bytes)
    let get = RawConnection.command(Array("GET".utf8), rawKey)
    var (hits, gets) = ([Double](), [Double]())
    for round in 0...Self.rounds {
      for _ in 0..<Self.callsInRound {
        let start = ContinuousClock.now
        let count = try await engine.read(key) { payload, _ throws(CacheError) in payload.count }
        let time = start.duration(to: .now)
        guard count == bytes else { throw CacheError(.damaged, "a read has found something else") }
        if round > 0 { hits.append(time / .microseconds(1)) }
      }
      for _ in 0..<Self.callsInRound {
        let start = ContinuousClock.now
        try raw.send(get)
        let count = try raw.receive()
        let time = start.duration(to: .now)
        guard count == bytes else { throw CacheError(.damaged, "GET has found something else") }
        if round > 0 { gets.append(time / .microseconds(1)) }
      }
    }
    row("hit, \(bytes) bytes: p50 us", Self.median(hits), Self.median(gets))
    row("hit, \(bytes) bytes: mean us", Self.mean(hits), Self.mean(gets))
    try remove(0..<1)
  }

  /// Puts of new entries far from the bounds, and SET with an expiry.
  private func measurePuts() async throws {
    var (puts, sets) = ([Double](), [Double]())
    var (put, set) = (Usage(), Usage())
    for round in 0...Self.rounds {
      let numbers = round * Self.callsInRound..<(round + 1) * Self.callsInRound
      var before = try usage()
      for number in numbers {
        let batch = try Self.batch(number..<number + 1, 1_000)
        let start = ContinuousClock.now
        try await engine.apply(batch)
        if round > 0 { puts.append(start.duration(to: .now) / .microseconds(1)) }
      }
      var after = try usage()
      if round > 0 { put = put + (after - before) }
      before = after
      for number in numbers {
        let command = Self.set(number, 1_000)
        let start = ContinuousClock.now
        try raw.send(command)
        try raw.receive()
        if round > 0 { sets.append(start.duration(to: .now) / .microseconds(1)) }
      }
      after = try usage()
      if round > 0 { set = set + (after - before) }
    }
    row("put, 1,000 bytes: p50 us", Self.median(puts), Self.median(sets))
    row("put, 1,000 bytes: mean us", Self.mean(puts), Self.mean(sets))
    let calls = Double(Self.rounds * Self.callsInRound)
    row("put: server CPU us", put.processor * 1e6 / calls, set.processor * 1e6 / calls)
    row("put: its main thread us", put.mainThread * 1e6 / calls, set.mainThread * 1e6 / calls)
    row("put: EVALSHA and SET us a call", put.script.perCall, set.set.perCall)
    try await empty()
    try remove(0..<(Self.rounds + 1) * Self.callsInRound)
  }

  /// What entries of 100 bytes take of the server's memory.
  private func measureMemory() async throws {
    let start = try settledMemory()
    for first in stride(from: 0, to: Self.entries, by: 200) {
      try await engine.apply(try Self.batch(first..<first + 200, 100))
    }
    let full = try settledMemory()
    try await empty()
    let rawStart = try settledMemory()
    try self.set(0..<Self.entries, 100)
    let rawFull = try settledMemory()
    try remove(0..<Self.entries)
    row("memory of 100 bytes", (full - start) / Double(Self.entries), (rawFull - rawStart) / Double(Self.entries))
  }

  /// Reads of 1,000 entries from `tasks` tasks.
  private func measureThroughput(_ tasks: Int) async throws {
    for first in stride(from: 0, to: 1_000, by: 100) {
      try await engine.apply(try Self.batch(first..<first + 100, 1_000))
    }
    let keys = try (0..<1_000).map { number throws(CacheError) in try Self.key(number) }
    let start = ContinuousClock.now
    let end = start.advanced(by: .seconds(3))
    let reads = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<tasks {
        group.addTask { [engine] in
          var reads = 0
          while ContinuousClock.now < end {
            _ = try await engine.read(keys[(task * 17 + reads) % 1_000]) { bytes, _ throws(CacheError) in bytes.count }
            reads += 1
          }
          return reads
        }
      }
      return try await group.reduce(0, +)
    }
    report(
      "\(Self.padded("reads a second, \(tasks) tasks", 32))\(Self.aligned(Double(reads) / (start.duration(to: .now) / .seconds(1))))"
    )
  }

  /// What the server has spent.
  struct Usage {
    var (processor, mainThread) = (0.0, 0.0)
    var (script, set) = (Calls(), Calls())

    static func + (first: Usage, second: Usage) -> Usage { first.combined(with: second, +) }
    static func - (first: Usage, second: Usage) -> Usage { first.combined(with: second, -) }

    private func combined(with other: Usage, _ operation: (Double, Double) -> Double) -> Usage {
      func calls(_ path: KeyPath<Usage, Calls>) -> Calls {
        Calls(
          count: operation(self[keyPath: path].count, other[keyPath: path].count),
          time: operation(self[keyPath: path].time, other[keyPath: path].time))
      }
      return Usage(
        processor: operation(processor, other.processor), mainThread: operation(mainThread, other.mainThread),
        script: calls(\.script), set: calls(\.set))
    }
  }

  /// The calls of a command, and their time in microseconds.
  struct Calls {
    var (count, time) = (0.0, 0.0)

    var perCall: Double { count == 0 ? 0 : time / count }

    init(count: Double = 0, time: Double = 0) { (self.count, self.time) = (count, time) }

    /// From a line such as `calls=3,usec=14,usec_per_call=4.67`.
    init(_ line: String?) {
      for pair in line?.split(separator: ",") ?? [] {
        if pair.hasPrefix("calls=") { count = Double(pair.dropFirst(6)) ?? 0 }
        if pair.hasPrefix("usec=") { time = Double(pair.dropFirst(5)) ?? 0 }
      }
    }
  }

  func usage() throws(CacheError) -> Usage { try Self.usage(of: raw) }

  static func usage(of server: RawConnection) throws(CacheError) -> Usage {
    let (processor, commands) = (try server.info("cpu"), try server.info("commandstats"))
    func seconds(_ name: String) -> Double {
      ["user", "sys"].reduce(0) { $0 + (Double(processor["used_cpu_\($1)\(name)"] ?? "") ?? 0) }
    }
    return Usage(
      processor: seconds(""), mainThread: seconds("_main_thread"), script: Calls(commands["cmdstat_evalsha"]),
      set: Calls(commands["cmdstat_set"]))
  }

  /// The server's memory, once it has given back what it does in the background.
  func settledMemory() throws(CacheError) -> Double {
    var (last, quiet) = (0.0, 0)
    for _ in 0..<60 where quiet < 6 {
      usleep(500_000)
      let memory = Double(try raw.info("memory")["used_memory"] ?? "") ?? 0
      quiet = abs(memory - last) < 2_000 ? quiet + 1 : 0
      last = memory
    }
    return last
  }

  func empty() async throws {
    while case let page = try await engine.scan(KeyRange(), limit: 1_000), !page.isEmpty {
      var batch = WriteBatch()
      for summary in page { batch.remove(summary.key) }
      try await engine.apply(batch)
    }
  }

  private func set(_ numbers: Range<Int>, _ bytes: Int) throws(CacheError) {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 200) {
      let page = first..<min(first + 200, numbers.upperBound)
      try raw.send(page.flatMap { Self.set($0, bytes) })
      for _ in page { try raw.receive() }
    }
  }

  private func remove(_ numbers: Range<Int>) throws(CacheError) {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 200) {
      let page = first..<min(first + 200, numbers.upperBound)
      try raw.send(page.flatMap { RawConnection.command(Array("DEL".utf8), Self.rawKey($0)) })
      for _ in page { try raw.receive() }
    }
  }

  private static func name(_ number: Int) -> String { "cities/v1/order=revenue/page=\(number)" }

  static func key(_ number: Int) throws(CacheError) -> CacheKey { try CacheKey(name(number)) }

  private static func rawKey(_ number: Int) -> [UInt8] { Array("\(rawPrefix):\(name(number))".utf8) }

  private static func set(_ number: Int, _ bytes: Int) -> [UInt8] {
    RawConnection.command(
      Array("SET".utf8), rawKey(number), [UInt8](repeating: 120, count: bytes), Array("PX".utf8),
      Array("\(lifetime)".utf8))
  }

  /// Puts of entries under the keys that `key` gives for their numbers, which end after the milliseconds that `lifetime`
  /// gives: after an hour if nothing else is said.
  static func batch(
    _ numbers: Range<Int>, _ bytes: Int, key: (Int) throws(CacheError) -> CacheKey = key,
    lifetime: (Int) -> Int64 = { _ in lifetime }
  ) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    let now = SystemClock().now
    for number in numbers {
      let metadata = EntryMetadata(
        storedAt: now, freshUntil: now.advanced(by: .seconds(60)),
        retainUntil: now.advanced(by: .milliseconds(lifetime(number))),
        contentType: "application/json", attributes: ["etag": "W/\"5e1\""], checksum: UInt64(number))
      batch.put(try key(number), payload: [UInt8](repeating: 120, count: bytes), metadata: metadata)
    }
    batch.bounds = StoreBounds(maxEntries: 1 << 40, maxPayloadBytes: 1 << 50)
    return batch
  }

  private static func median(_ times: [Double]) -> Double { times.isEmpty ? 0 : times.sorted()[times.count / 2] }

  private static func mean(_ times: [Double]) -> Double { times.reduce(0, +) / Double(max(times.count, 1)) }

  private func row(_ what: String, _ engine: Double, _ raw: Double) {
    let ratio = raw == 0 ? "" : Self.aligned(engine / raw)
    report("\(Self.padded(what, 32))\(Self.aligned(engine)) \(Self.aligned(raw))\(ratio)")
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// `number` with one or two decimals, right-aligned.
  static func aligned(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    let text = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    return String(repeating: " ", count: max(0, 10 - text.count)) + text
  }
}
