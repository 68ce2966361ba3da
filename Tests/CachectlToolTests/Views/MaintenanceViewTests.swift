import CachePresentation
import EngineAPI
import Testing

@testable import CacheCore
@testable import CachectlTool

struct MaintenanceViewTests {
  private static func text(_ view: some OutputView, _ format: OutputFormat, on screen: Screen = .file) -> String {
    OutputRenderer(format, on: screen).text(view)
  }

  static let issue = IntegrityIssue(key: try? CacheKey("cities/v1/a"), kind: .checksumMismatch, message: "changed")
  static let torn = IntegrityIssue(kind: .structure, message: "page 7 is torn")

  @Test func moreIssuesThanAreListed() {
    let issues = VerificationReport.maximumIssues + 1
    let view = Self.verification(9, Array(repeating: Self.torn, count: issues)).view(backend: "lmdb")
    let record = #"{"key":null,"kind":"structure","message":"page 7 is torn"}"#
    #expect(Self.text(view, .json).hasPrefix(#"{"backend":"lmdb","entriesChecked":9,"issues":["# + record))
    #expect(Self.text(view, .json).hasSuffix(record + #"],"omitted":1}"# + "\n"))
    #expect(view.records.count == 10_000)
    #expect(view.status?.text == "9 entries of lmdb checked · 10,001 issues · the first 10,000 are listed")
  }

  private static func verification(_ count: Int, _ issues: [IntegrityIssue]) -> VerificationReport {
    var report = VerificationReport()
    report.entriesChecked = count
    for issue in issues { report.add(issue) }
    return report
  }

  @Test func keysAreNeverCut() {
    let view = Self.verification(9, [Self.issue, Self.torn]).view(backend: "lmdb")
    let wide = """
      Issue             Key          Message
      checksumMismatch  cities/v1/a  changed
      structure         -            page 7 is torn

      """
    #expect(Self.text(view, .table, on: .terminal(width: 45, hasColor: false)) == wide)
    #expect(
      Self.text(view, .table, on: .terminal(width: 44, hasColor: false)) == """
        checksumMismatch  cities/v1/a  changed
        structure  -  page 7 is torn

        """)
    #expect(Self.text(view, .table, on: .terminal(width: 20, hasColor: true)).contains("cities/v1/a"), "however narrow")
  }

  private static func count(entries: Int, payloadBytes: Int, storageBytes: Int) -> StoreCount {
    let count = EntryCount(entries: entries, payloadBytes: payloadBytes)
    return StoreCount(namespaces: ["cities": count], storageBytes: storageBytes)
  }

  @Test func compaction() {
    let view = RecordView(
      CompactionReport(
        before: Self.count(entries: 1_200, payloadBytes: 4_096, storageBytes: 1 << 20),
        after: Self.count(entries: 1_000, payloadBytes: 2_048, storageBytes: 1 << 19), removed: 150), backend: "sqlite")
    #expect(
      Self.text(view, .json)
        == #"{"backend":"sqlite","removed":150,"freedBytes":524288,"entriesBefore":1200,"entriesAfter":1000,"#
        + #""payloadBytesBefore":4096,"payloadBytesAfter":2048,"storageBytesBefore":1048576,"#
        + #""storageBytesAfter":524288}"# + "\n")
    #expect(
      Self.text(view, .table) == """
                Entries  Payload    On disk
        Before    1,200  4.0 KiB    1.0 MiB
        After     1,000  2.0 KiB  512.0 KiB

        """)
    #expect(view.status?.text == "sqlite: removed 150 expired entries, freed 512.0 KiB")
  }

  @Test func aStoreThatHasGrownMeanwhileFreedNothing() {
    let view = RecordView(
      CompactionReport(
        before: Self.count(entries: 1, payloadBytes: 1, storageBytes: 10),
        after: Self.count(entries: 2, payloadBytes: 2, storageBytes: 20), removed: 0), backend: "sqlite")
    #expect(view.json["removed"] == .integer(0) && view.json["freedBytes"] == .integer(0))
  }

  @Test func figuresThatOnlyAWalkWouldTellAreNull() {
    let view = RecordView(CompactionReport(before: nil, after: nil, removed: 0), backend: "x")
    #expect(
      Self.text(view, .json)
        == #"{"backend":"x","removed":0,"freedBytes":null,"entriesBefore":null,"entriesAfter":null,"#
        + #""payloadBytesBefore":null,"payloadBytesAfter":null,"storageBytesBefore":null,"storageBytesAfter":null}"#
        + "\n")
    #expect(Self.text(view, .table).isEmpty)
    #expect(view.status?.text == "x: removed 0 expired entries")
  }

  private static func repairView(isDryRun: Bool, movedTo: [String]) -> some OutputView {
    var report = RepairReport()
    (report.saved, report.movedTo) = (1_000, movedTo)
    report.lost = [issue]
    report.possiblyLost = [torn]
    return verification(3, [torn]).view(of: report, isDryRun: isDryRun, backend: "lmdb")
  }

  @Test func repair() {
    let view = Self.repairView(isDryRun: false, movedTo: ["/cache/a.damaged-1", "/cache/a.damaged-1-wal"])
    let torn = #"{"key":null,"kind":"structure","message":"page 7 is torn"}"#
    #expect(
      Self.text(view, .json) == #"{"backend":"lmdb","entriesChecked":3,"issues":["# + torn
        + #"],"repair":{"dryRun":false,"saved":1000,"lost":["#
        + #"{"key":"cities/v1/a","kind":"checksumMismatch","message":"changed"}],"possiblyLost":["# + torn
        + #"],"movedTo":["/cache/a.damaged-1","/cache/a.damaged-1-wal"]}}"# + "\n")
    #expect(
      Self.text(view, .csv) == "key,kind,message,outcome\r\n,structure,page 7 is torn,found\r\n"
        + "cities/v1/a,checksumMismatch,changed,lost\r\n,structure,page 7 is torn,possiblyLost\r\n")
    #expect(
      Self.text(view, .table) == """
        Saved          1,000 entries
        Lost           1 entry
        Damaged store  /cache/a.damaged-1

        Issue      Key  Message
        structure  -    page 7 is torn

        Lost              Key          Message
        checksumMismatch  cities/v1/a  changed
        structure         -            page 7 is torn

        """)
    #expect(view.status?.text == "saved 1,000 entries; there may have been more")
  }

  @Test func aDryRunReportsTheChanges() {
    let view = Self.repairView(isDryRun: true, movedTo: [])
    #expect(view.json["repair"]?["dryRun"] == .boolean(true))
    #expect(Self.text(view, .table).hasPrefix("Would save  1,000 entries\nWould lose  1 entry\n\nIssue"))
    #expect(view.status?.text == "Dry run: nothing was changed")
  }
}

struct DoctorViewTests {
  private static let checks: [Finding] = [
    .ok("home", "/cache is for you alone"),
    .warning("space", "1 KiB is free", hint: "make some room for what is to come"),
    .problem("lmdb", .damaged, "bad\u{1B}[0m", hint: "see"),
  ]

  @Test func json() {
    #expect(
      OutputRenderer(.json, on: .file).text(ListView<Finding>(Self.checks))
        == #"{"ok":1,"warnings":1,"problems":1,"checks":["#
        + #"{"name":"home","result":"ok","message":"/cache is for you alone","hint":null},"#
        + #"{"name":"space","result":"warning","message":"1 KiB is free","hint":"make some room for what is to come"},"#
        + #"{"name":"lmdb","result":"problem","message":"bad\u001b[0m","hint":"see"}]}"# + "\n")
  }

  @Test func checksFitANarrowScreen() {
    let screen = Screen.terminal(width: 40, hasColor: false)
    #expect(
      OutputRenderer(.table, on: screen).text(ListView<Finding>(Self.checks)) == """
        ok  home  /cache is for you alone
        warning  space  1 KiB is free
          make some room for what is to come
        problem  lmdb  bad\\u{1B}[0m
          see

        """)
  }

  @Test(
    arguments: [
      (0, "Everything is in order", .green), (1, "Everything is in order", .green),
      (2, "0 problems · 1 warning", .yellow), (3, "1 problem · 1 warning", .red),
    ] as [(Int, String, TextStyle)])
  func status(count: Int, text: String, style: TextStyle) {
    #expect(ListView<Finding>(Array(Self.checks.prefix(count))).status == StatusLine([text], style: style))
  }
}

struct EntriesListingTests {
  private static let now = Timestamp(milliseconds: 1_772_366_400_000)

  private static func entries(_ count: Int) throws -> [ScannedEntry] {
    try (0..<count).map { number in
      ScannedEntry(
        key: try CacheKey("cities/v1/page=\(1 << number)"),
        metadata: EntryMetadata(storedAt: now, freshUntil: now, retainUntil: now, contentType: "a,\"b\""),
        payloadBytes: 1 << (2 * number))
    }
  }

  /// The text of `entries` in pages of `size`.
  private static func streamed(
    _ entries: [ScannedEntry], size: Int, _ format: OutputFormat, cursor: String?, on screen: Screen = .file
  ) -> (text: String, status: StatusLine) {
    var stream = EntriesListing(format, on: screen)
    var text = ""
    for start in stride(from: 0, to: entries.count, by: size) {
      text += stream.text(Array(entries[start..<min(start + size, entries.count)]), now: now)
    }
    text += stream.end(cursor: cursor)
    return (text, stream.status)
  }

  @Test(arguments: [OutputFormat.json, .ndjson, .csv], [0, 1, 2, 5, 7])
  func pagesAreTheTextOfTheWhole(format: OutputFormat, count: Int) throws {
    let entries = try Self.entries(count)
    for cursor in [nil, "cities/v1/page=\"4\""] {
      let view = ListView(entries, ScannedEntry.columns(at: Self.now)) {
        ["entries": .array($0), "cursor": JSONValue(cursor)]
      }
      let whole = Self.streamed(entries, size: 8, format, cursor: cursor)
      #expect(whole.text == OutputRenderer(format, on: .file).text(view))
      for size in 1...8 {
        let (text, status) = Self.streamed(entries, size: size, format, cursor: cursor)
        #expect(text == whole.text && status == whole.status, "\(size) a page")
      }
    }
  }

  @Test func aTableWithoutEntriesIsEmpty() {
    for screen in [Screen.file, .terminal(width: 50, hasColor: true)] {
      #expect(Self.streamed([], size: 6, .table, cursor: nil, on: screen).text == "")
    }
  }

  @Test func theColumnsOfAPageAreAsWideAsThoseBefore() throws {
    let entries = Array(try Self.entries(6).reversed())
    let lines = Self.streamed(entries, size: 2, .table, cursor: nil, on: .terminal(width: nil, hasColor: false)).text
      .split(separator: "\n")
    #expect(lines.count == 7)
    #expect(lines[0].hasPrefix("Key") && lines.count { $0.hasPrefix("Key") } == 1)
    #expect(Set(lines.dropFirst().map(\.count)).count == 1, "\(lines.joined(separator: "\n"))")
  }
}
