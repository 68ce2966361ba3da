import CacheDomain
import CachePresentation
import Testing

struct TransferViewTests {
  private static func text(_ view: some OutputView, _ format: OutputFormat) -> String {
    OutputRenderer(format, on: .file).text(view)
  }

  private static var migration: MigrationView {
    MigrationView(from: "plist", to: "lmdb", copied: 1_000, skipped: 2, verified: 1_000, bytes: 12)
  }

  @Test func aMigration() {
    let view = Self.migration
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
    #expect(view.failure == nil)
    #expect(
      view.status
        == StatusLine(["lmdb has every entry of plist: they were compared one by one"], style: .green))
  }

  @Test func aMigrationThatLeftEntriesOut() {
    var view = Self.migration
    (view.kept, view.expired) = (1, 1)
    view.damage = DamageList(entries: KeyList(count: 4, first: ["a/1", "a/2", "a/3", "a/4"]))
    #expect(Self.text(view, .table).contains("Skipped   2 (1 older than there, 1 expired)\n"))
    #expect(Self.text(view, .table).hasSuffix("Damaged   4\n"))
    #expect(view.failure?.message == "4 entries of plist are damaged, and not copied (a/1, a/2, a/3, ...)")
    #expect(view.failure?.code == .damaged && view.status == nil)
    view.different = KeyList(count: 1, first: ["b/1"])
    #expect(view.failure?.message == "1 entry of lmdb is not as in plist (b/1)")
  }

  @Test func aDryRunOfAMigration() {
    var view = Self.migration
    view.isDryRun = true
    #expect(Self.text(view, .table).hasPrefix("From     plist\nTo       lmdb\nTo copy  1,000\nSkipped  2\nPayload"))
    #expect(view.status == StatusLine(["Nothing was copied: this was a dry run"]))
  }

  @Test(arguments: [nil, "a.ndjson"])
  func anExport(file: String?) {
    let view = ExportView(
      backend: "lmdb", file: file, exported: 1, bytes: 2_048,
      damage: DamageList(entries: KeyList(count: 1, first: ["a/1"])))
    let name = file.map { "\"\($0)\"" } ?? "null"
    #expect(
      Self.text(view, .json)
        == #"{"backend":"lmdb","file":"# + name + #","exported":1,"bytes":2048,"damaged":1}"# + "\n")
    let line = "Exported 1 entry (2.0 KiB) of lmdb" + (file.map { " to \($0)" } ?? "")
    #expect(Self.text(view, .table) == line + "\n")
    #expect(view.remark == StatusLine([line]))
    #expect(view.failure?.message == "1 entry of lmdb is damaged, and not exported (a/1)")
    #expect(ExportView(backend: "lmdb", file: nil, exported: 1, bytes: 1).failure == nil)
  }

  @Test(arguments: [(false, "Imported"), (true, "Would import")])
  func anImport(isDryRun: Bool, verb: String) {
    let view = ImportView(
      backend: "plist", imported: 1_200, bytes: 9, present: 1, kept: 2, expired: 3, isDryRun: isDryRun)
    #expect(
      Self.text(view, .json)
        == #"{"backend":"plist","imported":1200,"skipped":6,"kept":2,"expired":3,"bytes":9,"dryRun":\#(isDryRun)}"#
        + "\n")
    #expect(Self.text(view, .table) == "\(verb) 1,200 entries (9 B) into plist\n")
    #expect(view.status == StatusLine(["1 there already", "2 older than there", "3 expired"]))
    let whole = ImportView(backend: "plist", imported: 1, bytes: 9, present: 0, kept: 0, expired: 0, isDryRun: false)
    #expect(whole.status == nil)
  }

  @Test(
    arguments: [
      ("{\"a\":\"b\"}\n{}\n", "{\"a\":\"b\"}\n{}\n"), ("", ""), ("\"é 🦜\"\n", "\"é 🦜\"\n"),
      ("\"\u{9B}31m\u{7F}\"\n", #""\u009b31m\u007f""# + "\n"), ("\"a\u{202E}b\u{2028}\"", #""a\u202eb\u2028""#),
    ])
  func linesAreSafeForATerminal(lines: String, safe: String) {
    #expect(String(decoding: JSONLines.safe(Array(lines.utf8)), as: UTF8.self) == safe)
  }
}
