import CachePresentation
import CacheCore
import EngineAPI
import Testing

@testable import CachectlTool

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
        == #"{"backend":"plist","imported":1200,"skipped":6,"kept":2,"expired":3,"bytes":9,"dryRun":\#(isDryRun)}"#
        + "\n")
    #expect(Self.text(view, .table) == "\(verb) 1,200 entries (9 B) into plist\n")
    #expect(view.status == StatusLine(["1 there already", "2 older than there", "3 expired"]))
  }
}
