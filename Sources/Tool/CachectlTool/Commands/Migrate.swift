struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Copy every entry to another storage engine, and compare them",
    discussion: """
      Entries are copied unchanged, with every time and attribute, between the stores that the configuration names. The store \
      that is read is not changed. Newer entries in the other one are kept, and expired ones are skipped. You can repeat an \
      interrupted migration. Finally each entry is read from both stores: the exit code is 65 if one is damaged or differs.
      """,
    examples: [
      "cachectl migrate --from sqlite --to lmdb --dry-run", "cachectl migrate --from sqlite --to lmdb",
      "cachectl migrate --from sqlite --to ./libcachectl-folder.so",
    ])

  @Option(
    help: ArgumentHelp("Read the store of BACKEND", valueName: "backend"), completion: .backends)
  var from: String

  @Option(
    help: ArgumentHelp("Write to the store of BACKEND", valueName: "backend"), completion: .backends)
  var to: String

  @Flag(help: "Replace newer entries, too")
  var overwrite = false

  @Flag(help: "Only say what would be copied")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if source == destination { throw ValidationError("--from and --to name the same backend, \(source)") }
  }

  private var source: String { EngineName.name(of: from) }
  private var destination: String { EngineName.name(of: to) }

  func run() async throws {
    let session = try Session(
      global, naming: [EngineReference(from, flag: "--from"), EngineReference(to, flag: "--to")])
    guard try session.container.engine(destination).plugin.declaration.capabilities.contains(.persistent) else {
      throw ValidationError("--to \(destination): nothing would be left of the copy when the command ends")
    }
    if dryRun { try session.requireIntactStore(source) }
    let migration = try await session.withStore(toReadOf: source) { source throws(CacheError) in
      try await session.withStore(toWriteOf: destination, isDryRun: dryRun) { target throws(CacheError) -> Migration in
        let report = try await copy(source, to: target)
        var migration = Migration(from: self.source, to: destination, report: report, isDryRun: dryRun)
        if !dryRun { migration.warnings = try await session.limitWarnings(of: target, destination) }
        return migration
      }
    }
    try global.show(migration.view)
    if let failure = migration.failure { throw failure }
  }

  private func copy(_ source: OpenStore, to target: OpenStore) async throws(CacheError) -> TransferReport {
    var progress = ProgressDisplay("Opening", isVisible: global.showsProgress)
    defer { progress.finish() }
    let options = TransferOptions(overwrites: overwrite, isDryRun: dryRun)
    return try await source.entries.migrate(to: target.entries, options) { stage, done, total in
      let label = stage == .copying ? "Copying" : "Comparing"
      if progress.label != label { progress = ProgressDisplay(label, isVisible: global.showsProgress) }
      progress.update(done: done, total: total)
    }
  }
}

/// A migration from one backend to another, or its dry run.
struct Migration {
  let from: String
  let to: String
  let report: TransferReport
  var isDryRun = false
  var warnings: [ErrorView] = []

  /// The error that entries are missing from the destination, or differ there; `nil` if all is well.
  var failure: CacheError? {
    report.different.failure(of: to, "not as in \(from)", hint: "migrate again: entries that are there are skipped")
      ?? report.damaged.damage(of: from, not: "copied")
  }

  /// The figures. The member "skipped" includes "kept" and "expired"; people see failures if there were any.
  var view: RecordView {
    let reasons = [(report.kept, "older than there"), (report.expired, "expired")].filter { $0.0 > 0 }
    let reasonText = reasons.map { "\(NumberText.text($0.0)) \($0.1)" }.joined(separator: ", ")
    let skipped = NumberText.text(report.skipped) + (reasons.isEmpty ? "" : " (\(reasonText))")
    func failures(_ name: String, _ title: String, _ count: Int) -> Field {
      Field(name, .integer(count), count > 0 ? title : nil, .init(NumberText.text(count), .red))
    }
    return RecordView(
      [
        Field("from", .string(from), "From", .init(from, .bold)), Field("to", .string(to), "To", .init(to, .bold)),
        Field("copied", .integer(report.written), isDryRun ? "To copy" : "Copied"),
        Field("skipped", .integer(report.skipped), "Skipped", .init(skipped)),
        Field("verified", .integer(report.verified), isDryRun ? nil : "Verified"),
        Field("bytes", .integer(report.bytes), "Payload", .init(bytes: report.bytes)),
        Field("kept", .integer(report.kept)), Field("expired", .integer(report.expired)),
        failures("damaged", "Damaged", report.damaged.count),
        failures("different", "Different", report.different.count), Field("dryRun", .boolean(isDryRun)),
      ], status: status, warnings: warnings)
  }

  /// Whether everything was copied, as far as it was compared.
  private var status: StatusLine? {
    if isDryRun { return StatusLine(["Nothing was copied: this was a dry run"]) }
    guard failure == nil else { return nil }
    let what = "\(to) has every entry of \(from)" + (report.kept > 0 ? " or a newer one" : "")
    return StatusLine(["\(what): they were compared one by one"], style: .green)
  }
}
