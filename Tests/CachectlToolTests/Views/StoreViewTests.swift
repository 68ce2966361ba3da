import CacheBase
import CachePresentation
import EngineAPI
import Testing
@testable import CacheCore
@testable import CachectlTool

private enum StoreSamples {
  static let now = Timestamp(milliseconds: 1_772_366_400_000)
  static let entry = summary("cities/v1/page=0")

  /// An entry of 2,048 bytes that was stored three minutes ago.
  static func summary(_ key: String, attributes: [String: String] = [:]) -> ScannedEntry {
    let metadata = EntryMetadata(
      storedAt: now.advanced(by: .seconds(-180)), freshUntil: now.advanced(by: .seconds(3_420)),
      retainUntil: now.advanced(by: .seconds(604_800)), contentType: "application/json", attributes: attributes)
    guard let key = try? CacheKey(key) else { preconditionFailure("\(key) is no key") }
    return ScannedEntry(key: key, metadata: metadata, payloadBytes: 2_048)
  }

  static let document =
    #"{"key":"cities/v1/page=0","namespace":"cities","bytes":2048,"storedAt":"2026-03-01T11:57:00Z","#
    + #""freshUntil":"2026-03-01T12:57:00Z","retainUntil":"2026-03-08T12:00:00Z","state":"fresh","#
    + #""contentType":"application/json","url":null"#

  static let facts = """
    Key          cities/v1/page=0
    Namespace    cities
    State        fresh
    Stored       2026-03-01T11:57:00Z (3 min ago)
    Fresh until  2026-03-01T12:57:00Z (in 57 min)
    Kept until   2026-03-08T12:00:00Z (in 7 days)
    Type         application/json
    Size         2.0 KiB (2,048 bytes)
    Uses         1,200, the last 3 min ago
    etag         "1"


    """

  static var statistics: RecordView { RecordView(report, backend: "lmdb", path: "/cache/lmdb") }

  static let count = StoreCount(
    namespaces: [
      "cities": EntryCount(entries: 1_200, payloadBytes: 14_400_000), "movies": EntryCount(entries: 2, payloadBytes: 9),
    ], storageBytes: 16_777_216)

  static var report: StoreReport { report(count) }

  static func report(_ count: StoreCount?, isBounded: Bool = true) -> StoreReport {
    StoreReport(
      count: count, states: count.map { _ in [.fresh: 1_000, .stale: 200, .expired: 2] },
      operations: OperationCounts(hits: 3, misses: 1, evictions: 5), tiers: [], isBounded: isBounded)
  }
}

struct StoreViewTests {
  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  private static func listing(
    _ entries: [ScannedEntry], _ format: OutputFormat = .table, cursor: String? = nil, on screen: Screen = .file
  ) -> (text: String, status: StatusLine) {
    var listing = EntriesListing(format, on: screen)
    let text = entries.isEmpty ? "" : listing.text(entries, now: StoreSamples.now)
    return (text + listing.end(cursor: cursor), listing.status)
  }

  @Test(
    arguments: [
      (OutputFormat.json, #"{"entries":["# + StoreSamples.document + #"}],"cursor":"c1"}"# + "\n"),
      (.ndjson, StoreSamples.document + "}\n"),
      (
        .csv,
        "key,namespace,bytes,storedAt,freshUntil,retainUntil,state,contentType,url\r\ncities/v1/page=0,cities,2048,"
          + "2026-03-01T11:57:00Z,2026-03-01T12:57:00Z,2026-03-08T12:00:00Z,fresh,application/json,\r\n"
      ),
      (
        .table,
        """
        Key or URL\tSize\tState\tAge\tFresh for
        cities/v1/page=0\t2.0 KiB\tfresh\t3m\t57m

        """
      ),
    ] as [(OutputFormat, String)])
  func entries(_ format: OutputFormat, _ text: String) {
    #expect(Self.listing([StoreSamples.entry], format, cursor: "c1").text == text)
  }

  @Test(
    arguments: [
      (
        200,
        """
        Key or URL                                                       Size  State  Age  Fresh for
        cities/v1/order=organizations/origin=sample/page=0/sort=desc  2.0 KiB  fresh   3m        57m

        """
      ),
      (
        80,
        """
        Key or URL                                           Size  State  Age  Fresh for
        cities/v1/order=organiza…sample/page=0/sort=desc  2.0 KiB  fresh   3m        57m

        """
      ),
      (
        60,
        """
        Key or URL                       Size  State  Age  Fresh for
        cities/v1/orde…e=0/sort=desc  2.0 KiB  fresh   3m        57m

        """
      ),
      (
        40,
        """
        Key or URL                   Size  State
        cities/v1/or…0/sort=desc  2.0 KiB  fresh
        Too narrow to show: Age, Fresh for

        """
      ),
    ])
  func entriesFitTheTerminal(width: Int, text: String) {
    let entry = StoreSamples.summary("cities/v1/order=organizations/origin=sample/page=0/sort=desc")
    #expect(Self.listing([entry], on: .terminal(width: width, hasColor: false)).text == text)
  }

  /// The entries of one host, and the responses for one URL.
  private static let ofURLs: [ScannedEntry] = [
    "list?page=1&tenant=42&fields=name,revenue&format=json,variant=any",
    "list?page=2&tenant=42&fields=name,revenue&format=json,variant=0123456789abcdef",
    "list?page=2&tenant=42&fields=name,revenue&format=json,variant=9876543210abcdef",
    "list?page=2&tenant=42&fields=name,revenue&format=json,variant=any",
  ].map { rest in
    let parts = rest.split(separator: ",variant=").map(String.init)
    let url = PercentEncoding.text("http://localhost:8901/api/v1/active/\(parts[0])")
    let selected = [":selector": "\(parts[1]) accept-language"]
    let isAny = parts[1] == "any"
    let attributes = !isAny ? selected : parts[0].contains("page=1") ? [:] : [":variants": "1 a,2 b"]
    return StoreSamples.summary("url/v1/url=\(url),variant=\(parts[1])", attributes: attributes)
  }

  @Test func entriesOfOneHostAreDistinguished() {
    let text = Self.listing(Self.ofURLs, on: .terminal(width: 80, hasColor: false)).text
    #expect(
      text == """
        Key or URL                                           Size  State  Age  Fresh for
        http://localhost:89…/active/list?page=1&tenant=…  2.0 KiB  fresh   3m        57m
        http://localhost:8901/ap…accept-language 012345)  2.0 KiB  fresh   3m        57m
        http://localhost:8901/ap…accept-language 987654)  2.0 KiB  fresh   3m        57m
        http://localhost:8901/ap…n (list of 2 responses)  2.0 KiB  fresh   3m        57m

        """, "\(text)")
    #expect(
      Self.ofURLs[0].name == "http://localhost:8901/api/v1/active/list?page=1&tenant=42&fields=name,revenue&format=json"
    )
  }

  @Test(arguments: 1...120)
  func noLineOfEntriesIsLongerThanTheTerminal(width: Int) {
    let text = Self.listing(Self.ofURLs + [StoreSamples.entry], on: .terminal(width: width, hasColor: false)).text
    let lines = text.split(separator: "\n")
    #expect(lines.allSatisfy { DisplayWidth.width(String($0)) <= width })
  }

  @Test(
    arguments: [
      ([], nil, "No entries"), ([StoreSamples.entry], nil, "1 entry · 2.0 KiB"),
      ([StoreSamples.entry, StoreSamples.entry], "c1", "2 entries · 4.0 KiB · more with --cursor c1"),
    ] as [([ScannedEntry], String?, String)])
  func statusOfEntries(_ entries: [ScannedEntry], _ cursor: String?, _ text: String) {
    let listing = Self.listing(entries, .json, cursor: cursor)
    #expect(listing.status.text == text)
    #expect(listing.text.hasSuffix("],\"cursor\":\(JSONText.text(JSONValue(cursor)))}\n"))
  }

  @Test(
    arguments: [
      (Array("{\"a\":[1]}".utf8), #""payload":"{\"a\":[1]}"}"#, "{\n  \"a\": [\n    1\n  ]\n}\n"),
      (Array("{cut\u{1B}".utf8), #""payload":"{cut\u001b"}"#, "{cut\\u{1B}\n"),
      ([0xFF, 0, 1, 2], #""payloadBase64":"/wABAg=="}"#, "(not text: `show --raw` writes its bytes)\n"),
      ([0xFF, 0], #""payloadBase64":"/wA="}"#, "(not text: `show --raw` writes its bytes)\n"),
      ([0xFF, 0, 1], #""payloadBase64":"/wAB"}"#, "(not text: `show --raw` writes its bytes)\n"),
      ([], #""payload":""}"#, "(empty)\n"),
    ] as [([UInt8], String, String)])
  func entry(_ payload: [UInt8], _ json: String, _ readable: String) {
    let summary = StoreSamples.summary("cities/v1/page=0", attributes: ["etag": "\"1\""])
    let view = RecordView(
      StoredEntry(summary: summary, payload: payload, transforms: nil, readAt: StoreSamples.now),
      use: AccessHistory(lastUsedAt: StoreSamples.now.advanced(by: .seconds(-180)), count: 1_200))
    let added = #","uses":1200,"lastUsedAt":"2026-03-01T11:57:00Z","attributes":{"etag":"\"1\""},"#
    #expect(Self.text(view, .json) == StoreSamples.document + added + json + "\n")
    #expect(Self.text(view, .ndjson) == Self.text(view, .json))
    #expect(Self.text(view, .table) == StoreSamples.facts + readable)
  }

  @Test func anEntryThatWasNeverUsedSaysSo() {
    let view = RecordView(
      StoredEntry(summary: StoreSamples.entry, payload: [], transforms: nil, readAt: StoreSamples.now),
      use: AccessHistory())
    #expect(view.json["uses"] == 0 && view.json["lastUsedAt"] == .null)
    #expect(Self.text(view, .table).contains("Uses         never\n"))
  }

  @Test(
    arguments: [
      (
        OutputFormat.json,
        #"{"backend":"lmdb","path":"/cache/lmdb","address":null,"entries":1202,"#
          + #""payloadBytes":14400009,"storageBytes":16777216,"fresh":1000,"stale":200,"expired":2,"hits":3,"misses":1,"evictions":5,"namespaces":[{"name":"cities","#
          + #""entries":1200,"payloadBytes":14400000},{"name":"movies","entries":2,"payloadBytes":9}]}"# + "\n"
      ),
      (
        .table,
        """
        Backend    lmdb
        Path       /cache/lmdb
        Entries    1,202 (1,000 fresh, 200 stale, 2 expired)
        Payload    13.7 MiB (14,400,009 bytes)
        On disk    16.0 MiB (16,777,216 bytes)
        Hits       3 of 4 (75.0%)
        Evictions  5

        Namespace  Entries   Payload
        cities       1,200  13.7 MiB
        movies           2       9 B

        """
      ),
    ] as [(OutputFormat, String)])
  func statistics(_ format: OutputFormat, _ text: String) {
    #expect(Self.text(StoreSamples.statistics, format) == text)
  }

  @Test("On a narrow screen the figures continue in the next line")
  func narrowStatistics() {
    let text = StoreSamples.statistics.table(on: .terminal(width: 40, hasColor: false), hasHeader: true)
    #expect(text.contains("Entries    1,202 (1,000 fresh, 200\n           stale, 2 expired)\n"), "\(text)")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(text)")
  }

  @Test func statisticsOfAStoreOnAServer() {
    let view = RecordView(StoreSamples.report, backend: "x", path: nil, address: "x://127.0.0.1:7/1")
    let text = Self.text(view, .table)
    #expect(text.hasPrefix("Backend    x\nAddress    x://127.0.0.1:7/1\nEntries "), "\(text)")
    #expect(!text.contains("Path"))
    #expect(Self.text(view, .json).contains(#""path":null,"address":"x://127.0.0.1:7/1","#))
  }

  @Test func statesThatWereNotCountedAreNull() {
    let report = StoreReport(count: StoreSamples.count, operations: OperationCounts(), tiers: [], isBounded: true)
    let view = RecordView(report, backend: "x", path: "/x")
    #expect(Self.text(view, .table).contains("Entries    1,202 (states are counted with --states)\n"))
    #expect(view.json["fresh"] == .null && view.json["stale"] == .null && view.json["expired"] == .null)
    #expect(view.json["evictions"] == 0)
  }

  @Test func evictionsAndSizeOfAnEngineThatEvictsByItselfAreNull() {
    let view = RecordView(StoreSamples.report(StoreSamples.count, isBounded: false), backend: "x", path: nil)
    #expect(view.json["evictions"] == .null && view.json["storageBytes"] == .null && view.json["hits"] == 3)
    #expect(view.json["entries"] == 1_202 && view.json["payloadBytes"] == 14_400_009)
    #expect(Self.text(view, .table).contains("On disk    -\n"), "\(Self.text(view, .table))")
  }

  @Test func entriesThatWereNotCountedAreNull() {
    let view = RecordView(StoreSamples.report(nil, isBounded: false), backend: "x", path: nil)
    for name in ["entries", "payloadBytes", "storageBytes", "fresh", "stale", "expired", "evictions"] {
      #expect(view.json[name] == .null, "\(name)")
    }
    #expect(view.json["namespaces"] == .array([]))
    let text = Self.text(view, .table)
    #expect(text.contains("Entries    more than 100,000 (states are counted with --states)\nPayload    -\n"), "\(text)")
  }

  @Test func integrity() {
    let issues = [IntegrityIssue(kind: .structure, message: "page 7 is torn")]
    let view = Self.verification(2, issues).view(backend: "lmdb")
    #expect(
      Self.text(view, .json)
        == #"{"backend":"lmdb","entriesChecked":2,"issues":[{"key":null,"kind":"structure","#
        + #""message":"page 7 is torn"}]}"#
        + "\n")
    #expect(Self.text(view, .table) == "Issue      Key  Message\nstructure  -    page 7 is torn\n")
    #expect(view.status == StatusLine(["2 entries of lmdb checked", "1 issue"], style: .red))
    let intact = Self.verification(1, []).view(backend: "lmdb")
    #expect(intact.status == StatusLine(["1 entry of lmdb checked", "no issues"], style: .green))
    #expect(Self.text(intact, .csv) == "key,kind,message\r\n")
  }

  private static func verification(_ count: Int, _ issues: [IntegrityIssue]) -> VerificationReport {
    var report = VerificationReport()
    report.entriesChecked = count
    for issue in issues { report.add(issue) }
    return report
  }
}

struct TransferViewTests {
  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  private static var copied: TransferReport {
    var report = TransferReport()
    report.written = 1_000
    report.present = 2
    report.verified = 1_000
    report.bytes = 12
    return report
  }

  private static func migration(_ report: TransferReport = copied, isDryRun: Bool = false) -> Migration {
    Migration(from: "plist", to: "lmdb", report: report, isDryRun: isDryRun)
  }

  private static func damaged(_ keys: String...) throws -> KeySample {
    var sample = KeySample()
    for key in keys { sample.add(try CacheKey(key)) }
    return sample
  }

  @Test func aMigration() {
    let view = Self.migration().view
    #expect(
      Self.text(view, .json)
        == #"{"from":"plist","to":"lmdb","copied":1000,"skipped":2,"verified":1000,"bytes":12,"kept":0,"expired":0,"#
        + #""damaged":0,"different":0,"dryRun":false}"# + "\n")
    #expect(
      Self.text(view, .csv)
        == "from,to,copied,skipped,verified,bytes,kept,expired,damaged,different,dryRun\r\n"
        + "plist,lmdb,1000,2,1000,12,0,0,0,0,false\r\n")
    #expect(
      Self.text(view, .table)
        == "From      plist\nTo        lmdb\nCopied    1,000\nSkipped   2\nVerified  1,000\nPayload   12 B\n")
    #expect(Self.migration().failure == nil)
    #expect(
      view.status
        == StatusLine(["lmdb has every entry of plist: they were compared one by one"], style: .green))
  }

  @Test func aMigrationThatLeftEntriesOut() throws {
    var report = Self.copied
    (report.present, report.kept, report.expired) = (0, 1, 1)
    report.damaged = try Self.damaged("a/1", "a/2", "a/3", "a/4")
    let migration = Self.migration(report)
    #expect(Self.text(migration.view, .table).contains("Skipped   2 (1 older than there, 1 expired)\n"))
    #expect(Self.text(migration.view, .table).hasSuffix("Damaged   4\n"))
    #expect(migration.failure?.message == "4 entries of plist are damaged, and not copied (a/1, a/2, a/3, ...)")
    #expect(migration.failure?.code == .damaged && migration.view.status == nil)
    report.different.add(try CacheKey("b/1"))
    #expect(Self.migration(report).failure?.message == "1 entry of lmdb is not as in plist (b/1)")
  }

  @Test func aDryRunOfAMigration() {
    let view = Self.migration(isDryRun: true).view
    #expect(Self.text(view, .table).hasPrefix("From     plist\nTo       lmdb\nTo copy  1,000\nSkipped  2\nPayload"))
    #expect(view.status == StatusLine(["Nothing was copied: this was a dry run"]))
  }

  @Test func anExport() throws {
    var report = TransferReport()
    report.written = 1
    report.bytes = 2_048
    #expect(report.damaged.damage(of: "lmdb", not: "exported") == nil)
    report.damaged = try Self.damaged("a/1")
    let view = RecordView(exported: report, backend: "lmdb", file: "a.ndjson")
    #expect(
      Self.text(view, .json)
        == #"{"backend":"lmdb","file":"a.ndjson","exported":1,"bytes":2048,"damaged":1}"# + "\n")
    #expect(Self.text(view, .table) == "Exported 1 entry (2.0 KiB) of lmdb to a.ndjson\n")
    #expect(report.exportText(backend: "lmdb", file: nil) == "Exported 1 entry (2.0 KiB) of lmdb")
    let failure = report.damaged.damage(of: "lmdb", not: "exported")
    #expect(failure?.message == "1 entry of lmdb is damaged, and not exported (a/1)")
  }

  @Test(arguments: [(false, "Imported"), (true, "Would import")])
  func anImport(isDryRun: Bool, verb: String) {
    var report = TransferReport()
    report.written = 1_200
    report.bytes = 9
    #expect(RecordView(imported: report, backend: "plist", isDryRun: isDryRun).status == nil)
    (report.present, report.kept, report.expired) = (1, 2, 3)
    let view = RecordView(imported: report, backend: "plist", isDryRun: isDryRun)
    #expect(
      Self.text(view, .json)
        == #"{"backend":"plist","imported":1200,"skipped":6,"kept":2,"expired":3,"bytes":9,"dryRun":\#(isDryRun),"evicted":0}"#
        + "\n")
    #expect(Self.text(view, .table) == "\(verb) 1,200 entries (9 B) into plist\n")
    #expect(view.status == StatusLine(["1 there already", "2 older than there", "3 expired"]))
  }
}
