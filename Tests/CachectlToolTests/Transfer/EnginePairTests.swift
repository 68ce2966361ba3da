import CachectlTool
import FetchVocabulary
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

/// Entries on their way between any two engines: each arrives as it was.
struct EnginePairTests {
  static let pairs = Backends.all.flatMap { from in Backends.all.filter { $0 != from }.map { (from, $0) } }

  private static let now = Timestamp(milliseconds: 1_700_000_000_000)

  /// The engine called `name` over a new store.
  private func engine(_ name: String, _ home: TestHome) async throws -> any StorageEngine {
    let plugin = try PluginCatalogue.builtIn.plugin(named: name)
    let hasPath = plugin.declaration.options.contains { $0.name == "path" }
    let values: [String: OptionValue] = hasPath ? ["path": .text("\(home.folder)/\(name)")] : [:]
    return try await plugin.open(EngineConfiguration(for: plugin.declaration, values: values, clock: home.clock))
  }

  /// Entries with what is hard to carry: every byte, nothing, much, long keys, any attributes, times at both ends.
  private static let entries = Result { try makeEntries() }

  private static func makeEntries() throws -> [ExportedEntry] {
    let payloads: [[UInt8]] = [
      [], [0], Array(0...255), Array("{\"a\":\"\\u00e9 é e\u{301} 🦜\\n\"}\r\n\u{0}\u{7F}\u{85}\u{2028}".utf8),
      [0xF0, 0x9F, 0xA6], Array(repeating: 0xFF, count: 70_000),
      (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) },
      Array(repeating: UInt8(ascii: "\""), count: 1 << 19),
    ]
    let long = "cities/v1/" + String(repeating: "k", count: CacheKey.maximumLength - 12)
    let keys = ["a/1", "cities/v1/a=1", "cities/v10", "leases2/x", "\(long)a", "\(long)b", "movies/~!'\"\\{}", "z9/z"]
    let times = [Timestamp(milliseconds: 0), Timestamp(milliseconds: 1), now, .distantFuture]
    let attributes: [[String: String]] = [
      [:], ["": ""], ["\u{0}\u{1F}\"\\": "é e\u{301}", "e\u{301}": "\r\n\u{2028}"],
      Dictionary(uniqueKeysWithValues: (0..<300).map { ("name\($0)", String(repeating: "🦜", count: $0)) }),
    ]
    return try keys.indices.map { index in
      let (key, payload) = (try CacheKey(keys[index]), payloads[index])
      var metadata = EntryMetadata(
        storedAt: times[index % 4], freshUntil: times[(index + 1) % 4], retainUntil: .distantFuture,
        contentType: ["", "application/json", "é/\"\u{0}"][index % 3], attributes: attributes[index % 4])
      metadata.setChecksums(key: key, payload: payload.span)
      return ExportedEntry(key: key, metadata: metadata, payload: payload)
    }.sorted { $0.key < $1.key }
  }

  private func fill(_ engine: any StorageEngine, _ entries: [ExportedEntry]) async throws {
    var batch = WriteBatch()
    for entry in entries { batch.put(entry.key, payload: entry.payload, metadata: entry.metadata) }
    try await engine.apply(batch)
  }

  private func expect(_ entries: [ExportedEntry], in engine: any StorageEngine) async throws {
    #expect(try await engine.scan(ScanRequest(limit: 100)).entries.map(\.key) == entries.map(\.key))
    for entry in entries {
      let isSame = try await engine.read(entry.key) { bytes, metadata throws(CacheError) in
        metadata == entry.metadata && bytes.withUnsafeBufferPointer { Array($0) } == entry.payload
      }
      #expect(isSame == true, "\(entry.key.text.prefix(40))")
    }
  }

  @Test(arguments: pairs)
  func aMigrationCarriesEverything(from: String, to: String) async throws {
    let (home, entries) = (try TestHome(), try Self.entries.get())
    let (source, destination) = (try await engine(from, home), try await engine(to, home))
    try await fill(source, entries)
    let report = try await EntryStore(engine: source, clock: home.clock).migrate(
      to: EntryStore(engine: destination, clock: home.clock), TransferOptions()
    ) { _, _, _ in }
    #expect(report.written == entries.count && report.verified == entries.count)
    #expect(report.damaged.count == 0 && report.different.count == 0 && report.kept == 0 && report.expired == 0)
    try await expect(entries, in: destination)
    try await expect(entries, in: source)
    for engine in [source, destination] { try await engine.close() }
  }

  @Test(arguments: pairs)
  func anExportAndImportCarryEverything(from: String, to: String) async throws {
    let (home, entries) = (try TestHome(), try Self.entries.get())
    let (source, destination) = (try await engine(from, home), try await engine(to, home))
    try await fill(source, entries)
    var pieces: [[UInt8]] = []
    let exported = try await EntryStore(engine: source, clock: home.clock).export(
      EntrySelection(), progress: { _, _ in }
    ) { (lines) throws(CacheError) in pieces.append(lines) }
    #expect(exported.written == entries.count && exported.damaged.count == 0)
    var rest = pieces[...]
    let imported = try await EntryStore(engine: destination, clock: home.clock).importLines(
      of: "the test", TransferOptions(), progress: { _, _ in }
    ) { () throws(CacheError) in rest.popFirst() ?? [] }
    #expect(imported.written == entries.count)
    try await expect(entries, in: destination)
    for engine in [source, destination] { try await engine.close() }
  }
}
