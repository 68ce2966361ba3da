struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Read exported entries into the store",
    discussion: """
      Without FILE, or if it is -, it reads stdin. Newer entries in the store are kept, and expired ones are skipped. A line \
      that is not an entry ends the import with exit code 65 and its number. You can repeat an interrupted import: it skips \
      the entries that are already there. Entries that exceed cache.maxEntries or cache.maxBytes are evicted at the end.
      """,
    examples: [
      "cachectl import cache.ndjson", "cachectl --backend lmdb import cache.ndjson --dry-run",
      "gunzip < movies.ndjson.gz | cachectl import",
    ])

  @Argument(help: "The file to read", completion: .file())
  var file: String?

  @Flag(help: "Replace newer entries, too")
  var overwrite = false

  @Flag(help: "Only say what would be imported")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let input = try InputFile(file ?? "-")
    let backend = session.configuration.backend
    let view = try await session.withStore(toWriteOf: backend, isDryRun: dryRun) {
      store throws(CacheError) -> RecordView in
      let report = try await read(input, into: store)
      if dryRun { return RecordView(imported: report, backend: backend, isDryRun: true) }
      let (evicted, warnings) = try await makeRoom(in: store, session)
      return RecordView(imported: report, evicted: evicted, backend: backend, isDryRun: false, warnings: warnings)
    }
    try global.show(view)
  }

  private func read(_ input: InputFile, into store: OpenStore) async throws(CacheError) -> TransferReport {
    let progress = ProgressDisplay("Importing", isVisible: global.showsProgress)
    defer { progress.finish() }
    return try await store.entries.importLines(
      of: file ?? "stdin", TransferOptions(overwrites: overwrite, isDryRun: dryRun),
      progress: progress.update(done:total:)
    ) { () async throws(CacheError) in try await input.next() }
  }

  /// Evicts what the limits of the store leave no room for: the next fetch would have to.
  private func makeRoom(
    in store: OpenStore, _ session: Session
  ) async throws(CacheError) -> (evicted: Int, warnings: [ErrorView]) {
    let progress = ProgressDisplay("Evicting", isVisible: global.showsProgress)
    defer { progress.finish() }
    let (backend, limits) = (session.configuration.backend, session.configuration.cache.limits)
    var evicted = 0
    do throws(CacheError) {
      evicted = try await store.entries.makeRoom(progress: progress.update(done:total:))
    } catch {
      // The entries are imported, even if the policy keeps them all, or other processes keep changing the store.
      guard [.overBounds, .busy].contains(error.code) else { throw error }
      return (store.entries.uses.counts.evictions, try await session.limitWarnings(of: store, backend))
    }
    guard evicted > 0 else { return (0, []) }
    let warning = ErrorView(
      code: CacheError.Code.overBounds.rawValue,
      message: "\(NumberText.count(evicted, "entry was", "entries were")) evicted from \(backend): the limits are "
        + "\(NumberText.count(limits.maxEntries, "entry", "entries")) and \(ByteCountText.text(limits.maxBytes))",
      hint: "raise cache.maxEntries or cache.maxBytes, then import again")
    return (evicted, [warning])
  }
}

extension RecordView {
  /// The import into the store of `backend`, or its dry run, and how many entries were evicted afterwards. The member
  /// "skipped" counts entries for any reason, "kept" and "expired" for two of the reasons.
  init(
    imported report: TransferReport, evicted: Int = 0, backend: String, isDryRun: Bool,
    warnings: [ErrorView] = []
  ) {
    let reasons = [(report.present, "there already"), (report.kept, "older than there"), (report.expired, "expired")]
    let skipped = reasons.filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }
    let verb = isDryRun ? "Would import" : "Imported"
    self.init(
      [
        Field("backend", .string(backend)), Field("imported", .integer(report.written)),
        Field("skipped", .integer(report.skipped)), Field("kept", .integer(report.kept)),
        Field("expired", .integer(report.expired)), Field("bytes", .integer(report.bytes)),
        Field("dryRun", .boolean(isDryRun)), Field("evicted", .integer(evicted)),
      ], line: "\(verb) \(NumberText.entries(report.written, report.bytes)) into \(backend)",
      status: skipped.isEmpty ? nil : StatusLine(skipped), warnings: warnings)
  }
}

extension Session {
  /// Moving entries ignores the limits of the store, so that no entry is lost on the way. This warns of what the next fetch
  /// will do, unless the engine has its own limits.
  func limitWarnings(of store: OpenStore, _ backend: String) async throws(CacheError) -> [ErrorView] {
    guard let count = try await store.entries.count() else { return [] }
    let limits = configuration.cache.limits
    let hint =
      limits.eviction == .none
      ? "raise them, or remove entries: until then nothing new is stored"
      : "raise them before the next fetch, which makes room"
    if StoreBounds(maxEntries: limits.maxEntries, maxPayloadBytes: limits.maxBytes).contain(count) { return [] }
    return [
      ErrorView(
        code: CacheError.Code.overBounds.rawValue,
        message:
          "\(backend) now holds \(NumberText.entries(count.entries, count.payloadBytes)), more than "
          + "cache.maxEntries or cache.maxBytes allow",
        hint: hint)
    ]
  }
}
