import EngineAPI
import Testing

@testable import RedisStorage

@Suite("The names of entries on the server")
struct RedisNamesTests {
  private static let keys = [
    "cities/v1/page=0", "cities/a", "url/https%3A%2F%2Fa.com,vary=1,method=GET", "url/,", "url/,a", "url/}",
    "url/a}b,c",
    "url/{a}", "url/{,}", "url/a/b{c}/d", "url/a,b,c", "leases/v1/cities", "a1/~!*?[]\\",
  ]

  @Test("Each name gives its key back, and belongs to one store", arguments: keys, [false, true])
  func roundTrip(_ text: String, _ isCluster: Bool) throws {
    let (key, names) = (try CacheKey(text), RedisNames(prefix: "cachectl", isCluster: isCluster))
    #expect(names.key(named: names.name(of: key)) == key)
    #expect(RedisNames(prefix: "cache", isCluster: isCluster).key(named: names.name(of: key)) == nil)
    #expect(RedisNames(prefix: "cachectl2", isCluster: isCluster).key(named: names.name(of: key)) == nil)
  }

  @Test("An entry has the slot of its lease and of its variants, whatever is in its key", arguments: keys)
  func slots(_ text: String) throws {
    let (key, names) = (try CacheKey(text), RedisNames(prefix: "cachectl", isCluster: true))
    let group = String(Substring(key.group))
    for other in ["leases/\(group),lease", "url/\(group),more", "url/\(group),}{,"] {
      #expect(names.slot(of: names.name(of: try CacheKey(other))) == names.slot(of: names.name(of: key)))
    }
  }

  @Test("The keys of others are not entries")
  func foreign() {
    let server = RedisNames(prefix: "cachectl", isCluster: false)
    for name in ["", "cachectl", "cachectl:", "cachectl:cities", "cachectl:cities/", "cachectl:CITIES/a", "cities/a"] {
      #expect(server.key(named: name) == nil, "\(name)")
    }
    let cluster = RedisNames(prefix: "cachectl", isCluster: true)
    for name in [
      "cachectl:cities/a", "cachectl:cities{a}", "cachectl:cities{/a", "cachectl:{/a}", "cachectl:cities{/a}b",
    ] {
      #expect(cluster.key(named: name) == nil, "\(name)")
    }
  }

  @Test("Slots are those of the specification of Redis Cluster")
  func specification() {
    let names = RedisNames(prefix: "cachectl", isCluster: true)
    #expect(names.slot(of: "123456789") == 0x31C3)
    #expect(names.slot(of: "{123456789}.following") == 0x31C3)
    #expect(names.slot(of: "foo{}{123456789}") != 0x31C3)
    #expect(RedisNames(prefix: "cachectl", isCluster: false).slot(of: "123456789") == nil)
  }

  @Test("Entries are spread evenly, however many nodes there are", arguments: [3, 10, 100])
  func spread(_ nodes: Int) throws {
    let names = RedisNames(prefix: "cachectl", isCluster: true)
    var counts = [Int](repeating: 0, count: nodes)
    for number in 0..<1_000 * nodes {
      let slot = try #require(names.slot(of: names.name(of: try CacheKey("cities/v1/page=\(number)"))))
      counts[slot * nodes / RedisNames.slots] += 1
    }
    #expect(counts.allSatisfy { (850...1_200).contains($0) }, "\(counts.min() ?? 0) to \(counts.max() ?? 0)")
  }
}

@Suite("An entry as bytes")
struct RedisEntryTests {
  private let key: CacheKey
  private let payload: [UInt8] = Array("{\"page\":0}".utf8)

  init() throws { key = try CacheKey("cities/a") }

  private var metadata: EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_767_225_600_000), freshUntil: Timestamp(milliseconds: 0),
      retainUntil: .distantFuture, contentType: "application/json",
      attributes: ["etag": "W/\"5e1\"", "": "", "long": String(repeating: "é", count: 20_000)],
      payloadChecksum: .max - 1, checksum: 1 << 63)
  }

  private func decode(_ bytes: [UInt8]) throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata) {
    let (metadata, length) = try RedisEntry.decode(bytes.span, of: key)
    return (Array(bytes[..<length]), metadata)
  }

  /// The error that `body` throws.
  private func failure<Output>(_ body: () throws -> Output) -> CacheError? {
    do {
      _ = try body()
      return nil
    } catch {
      return error as? CacheError
    }
  }

  @Test("It comes back as it was")
  func roundTrip() throws {
    for payload in [payload, [], [0xC1]] {
      let decoded = try decode(try RedisEntry.encode(key, payload, metadata))
      #expect(decoded.payload == payload && decoded.metadata == metadata)
    }
  }

  @Test("Without its beginning, or its end, or a byte in the middle it is damaged")
  func cut() throws {
    var short = metadata
    short.attributes["long"] = nil
    let bytes = try RedisEntry.encode(key, payload, short)
    for length in 0..<bytes.count {
      for part in [Array(bytes[..<length]), Array(bytes[(bytes.count - length)...])] {
        let error = failure { try decode(part) }
        // A byte of a time or a checksum may look like the version.
        #expect(error?.code == .damaged || error?.code == .unsupportedFormat && part.last.map { $0 >> 4 } == 0xC)
        #expect(
          (error?.cause as? UnreadableEntry)?.key == key
            && (error?.key == "cities/a" || error?.code == .unsupportedFormat))
      }
      var part = bytes
      part.remove(at: length)
      #expect(failure { try decode(part) } != nil, "\(length)")
    }
  }

  @Test(
    "Text of other programs is not an entry",
    arguments: ["", "1", "of another program", "é", "{\"a\":1}\n", "\u{10FFFF}"])
  func foreign(_ text: String) {
    for padding in [0, 9, 100] {
      let bytes = Array((String(repeating: " ", count: padding) + text).utf8)
      #expect(failure { try decode(bytes) }?.code == .damaged)
    }
  }

  @Test("An entry of another version is said to be one, and times or lengths that cannot be are damage")
  func otherVersion() throws {
    var bytes = try RedisEntry.encode(key, payload, metadata)
    bytes[bytes.count - 1] += 1
    let error = failure { try decode(bytes) }
    #expect(error?.code == .unsupportedFormat && error?.message.contains("cities/a") == true)
    // The highest bytes of the three times and of both lengths.
    for place in [payload.count + 15, payload.count + 23, payload.count + 31, bytes.count - 6, bytes.count - 2] {
      var bytes = try RedisEntry.encode(key, payload, metadata)
      bytes[place] = 0xFF
      #expect(failure { try decode(bytes) }?.code == .damaged, "\(place)")
    }
  }

  @Test("An entry that no server takes is refused before it is sent")
  func tooLarge() throws {
    // It fits without its metadata.
    let large = [UInt8](repeating: 0, count: (512 << 20) - 100)
    #expect(failure { try RedisEntry.encode(key, large, metadata) }?.code == .tooLarge)
  }
}

@Suite("A store on the server, as others see it")
struct RedisFormatTests {
  private let plugin = RedisPlugin()

  @Test("redis-cli shows what the README says")
  func view() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let retained = Timestamp(milliseconds: 4_102_444_800_000)
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_767_225_600_000), freshUntil: Timestamp(milliseconds: 1_767_229_200_000),
      retainUntil: retained, contentType: "application/json", attributes: ["etag": "W/\"5e1\""],
      payloadChecksum: 254, checksum: 255)
    try await engine.put("cities/v1/page=0", "{\"page\":0}", metadata)
    let name = "cachectl:cities/v1/page=0"
    let shown = try server.cli("--no-raw", "GET", name)
    #expect(
      shown == #""{\"page\":0}\x01\x01\x00\x00G\x00\x00\x00\x00\xa8\xdav\x9b\x01\x00\x00\x80\x96\x11w\x9b\x01\x00"#
        + #"\x00\x00\xd8\xc3,\xbb\x03\x00\x00\xfe\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\x00\x00\x00"#
        + #"\x00\x13\x00\x00\x00\x04\x00\x00\x00etag\a\x00\x00\x00W/\"5e1\"\n\x00\x00\x00G\x00\x00\x00\xc1""#,
      "\(shown)")
    #expect(try server.cli("--raw", "GETRANGE", name, "0", "9") == "{\"page\":0}")
    #expect(try server.cli("--raw", "PEXPIRETIME", name) == "4102444800000")
    #expect(try server.cli("--raw", "KEYS", "*") == name)
    try await engine.close()
  }

  @Test("An entry of 100 bytes under a key of 50 takes at most 330 bytes of the server's memory")
  func memory() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let key = "cities/v1/order=revenue,origin=sample,page=0000000"
    #expect(key.utf8.count == 50)
    try await engine.put(key, String(repeating: "x", count: 100))
    #expect(try #require(try server.ask("MEMORY", "USAGE", "cachectl:\(key)").integer) <= 330)
    try await engine.close()
  }

  @Test("Nothing of anybody else is touched or counted, and no command looks at all keys at once")
  func sharedServer() async throws {
    let server = try RedisServer()
    for (name, value) in [
      ("cities/a", "1"), ("cachectl2:cities/a", "2"), ("cachectl", "3"), ("other:cachectl:cities/a", "4"),
      ("cachectl:of another program", "5"),
    ] {
      try server.ask("SET", name, value)
    }
    let foreign = try dump(server)
    let engine = try await plugin.open(server.url)
    for number in 0..<50 { try await engine.put("cities/\(number)", "x") }
    #expect(try await Set(engine.keys()).count == 50)
    #expect(try await engine.count().entries == 50)
    #expect(try await engine.check().map(\.message) == [])
    var batch = WriteBatch()
    for key in try await engine.keys() { batch.remove(try CacheKey(key)) }
    try await engine.apply(batch)
    try await engine.compact()
    try await engine.close()
    #expect(try dump(server) == foreign)
    // The commands of this test.
    let statistics = try server.cli("INFO", "commandstats")
    #expect(statistics.contains("cmdstat_keys:calls=2,"))
    for command in ["flushdb", "flushall", "randomkey"] { #expect(!statistics.contains("cmdstat_\(command):")) }
  }

  /// Everything on the server, byte by byte.
  private func dump(_ server: RedisServer) throws -> [String: String] {
    var all: [String: String] = [:]
    for key in try server.cli("--raw", "KEYS", "*").split(separator: "\n") {
      all[String(key)] = try server.cli("DUMP", String(key))
    }
    return all
  }

  @Test("A page has all entries that fit it, however many keys of others are between them")
  func sparseStore() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let keys = (0..<9).map { "cities/\($0)" }
    for key in keys { try await engine.put(key, "1") }
    try server.ask("EVAL", "for i = 1, 20000 do redis.call('SET', 'other:' .. i, 1) end", "0")
    for includesPayloads in [false, true] {
      let page = try await engine.scan(ScanRequest(includesPayloads: includesPayloads))
      #expect(page.entries.map(\.key.text).sorted() == keys && page.next == nil)
    }
    try await engine.close()
  }

  @Test("Databases of one server have nothing in common")
  func databases() async throws {
    let server = try RedisServer()
    let first = try await plugin.open(server.url)
    let second = try await plugin.open("\(server.url)/3")
    try await first.put("cities/a", "1")
    #expect(try await second.keys() == [])
    for engine in [first, second] { try await engine.close() }
  }

  @Test("Characters of a pattern in a key mean themselves, and a scan of another server's position begins again")
  func patternsAndPositions() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let keys = ["url/a*b", "url/a[b]", "url/a?b", "url/a\\b", "url/axb"]
    for key in keys { try await engine.put(key, "1") }
    for key in keys {
      #expect(try await engine.scan(ScanRequest(prefix: key)).entries.map(\.key.text) == [key])
    }
    for position in ["", "s", "s:0:17", "s:other-run:17", "c:5", "c:5:url/a", "nonsense"] {
      let page = try await engine.scan(ScanRequest(after: position))
      #expect(page.entries.map(\.key.text).sorted() == keys.sorted(), "\(position)")
    }
    #expect(await code { _ = try await engine.scan(ScanRequest(isDescending: true)) } == .unsupported)
    try await engine.close()
  }

  @Test(
    "A walk in small pages visits everything, while a table of the server grows and shrinks", arguments: [1, 7, 300])
  func changingTable(_ limit: Int) async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<300 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    var found = Set<String>()
    var request = ScanRequest(prefix: "cities/", limit: limit)
    var pages = 0
    repeat {
      let page = try await engine.scan(request)
      #expect(page.entries.count <= limit)
      found.formUnion(page.entries.map(\.key.text))
      request.position = page.next
      pages += 1
      // Grows to four times the size, then shrinks to the former size.
      let script =
        pages % 8 < 4
        ? "for i = 1, 400 do redis.call('SET', 'other:' .. ARGV[1] .. ':' .. i, 1) end"
        : "for i = 1, 400 do redis.call('DEL', 'other:' .. (ARGV[1] - 4) .. ':' .. i) end"
      try server.ask("EVAL", script, "0", "\(pages)")
    } while request.position != nil && pages < 5_000
    #expect(request.position == nil && found.count == 300)
    try await engine.close()
  }

  @Test(
    "A walk visits everything if each page is read by another process", arguments: [1, 7, 300], [false, true])
  func manyProcesses(_ limit: Int, _ includesPayloads: Bool) async throws {
    let server = try RedisServer()
    let writer = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<60 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await writer.apply(batch)
    var (request, found) = (ScanRequest(limit: limit, includesPayloads: includesPayloads), Set<String>())
    repeat {
      let reader = try await plugin.open(server.url)
      let page = try await reader.scan(request)
      try await reader.close()
      found.formUnion(page.entries.map(\.key.text))
      request.position = page.next
    } while request.position != nil
    #expect(found.count == 60)
    try await writer.close()
  }

  @Test("A new scan finds entries stored since another one was abandoned")
  func abandonedScan() async throws {
    let prefix = "abandoned-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let engine = try await plugin.open(RedisCluster.shared.get().url, ["prefix": .text(prefix)])
    // All of one slot, whose keys are found together.
    let keys = (0..<9).map { "cities/a,\($0)" }
    for key in keys.dropLast() { try await engine.put(key, "1") }
    _ = try await engine.scan(ScanRequest(limit: 3))
    try await engine.put(keys[8], "1")
    var (request, found) = (ScanRequest(limit: 3), [String]())
    repeat {
      let page = try await engine.scan(request)
      found += page.entries.map(\.key.text)
      request.position = page.next
    } while request.position != nil
    #expect(found.sorted() == keys)
    try await engine.close()
  }
}
