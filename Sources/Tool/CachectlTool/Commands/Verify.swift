struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the store and every entry, and repair it if you want",
    discussion: """
      The engine checks the structure of the store. Then each entry is checked by its checksum, and by its seal if it is \
      sealed and its key is configured. The exit code is 65 if something is wrong.

      A repair moves the damaged store aside, and never deletes it. A separate process, which damage can end, reads the \
      entries that are still readable, and a new store receives them. There can have been more entries, so the exit code \
      is 65 even then. A dry run only says what would be saved.
      """,
    examples: ["cachectl verify", "cachectl verify --repair --dry-run", "cachectl --backend lmdb verify --repair"])

  @Flag(help: "Save readable entries into a new store, and move the damaged one aside")
  var repair = false

  @Flag(help: "With --repair, only say what would be saved")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if dryRun, !repair { throw ValidationError("--dry-run goes with --repair") }
  }

  func run() async throws {
    let session = try Session(global)
    let backend = session.configuration.backend
    if repair { CrashNotice.runAgainAfterDamage() }
    let progress = ProgressDisplay("Verifying", isVisible: global.showsProgress)
    let found = try await session.verify(progress: progress)
    if found.issueCount == 0 || !repair {
      try global.show(found.view(backend: backend))
      await session.warnOfStoresSetAside()
      if found.issueCount == 0 { return }
      if global.output == .table {
        global.remark(StatusLine(["Save what can be read with: cachectl --backend \(backend) verify --repair"]))
      }
    } else {
      let report = try await repaired(found, session)
      try global.show(found.view(of: report, isDryRun: dryRun, backend: backend))
    }
    throw ExitCode.dataError
  }

  /// Repairs the store. If the engine cannot move it aside, removes the damaged entries from it instead.
  private func repaired(_ found: VerificationReport, _ session: Session) async throws(CacheError) -> RepairReport {
    let progress = ProgressDisplay("Repairing", isVisible: global.showsProgress)
    defer { progress.finish() }
    do throws(CacheError) {
      return try await session.container.repairStore(
        isDryRun: dryRun, progress: { progress.update(done: $0, total: nil) }
      ) { name, path throws(CacheError) in
        try DamagedStoreProcess(name, at: path, session.configuration, global)
      }
    } catch {
      guard error.code == .unsupported else { throw error }
      return try await removed(found, because: error, session)
    }
  }

  private func removed(
    _ found: VerificationReport, because reason: CacheError, _ session: Session
  ) async throws(CacheError) -> RepairReport {
    var report = RepairReport()
    report.lost = found.issues.filter { $0.key != nil }
    report.possiblyLost = found.issues.filter { $0.key == nil }
    let keys = Set(report.lost.compactMap(\.key))
    if !dryRun, !keys.isEmpty {
      _ = try await session.withStore { store throws(CacheError) in
        try await store.administration.change(.remove, keys: Array(keys), dryRun: false)
      }
    }
    report.saved = max(0, found.entriesChecked - keys.count - found.omitted)
    let backend = session.configuration.backend
    let removal = "empty the store with: cachectl --backend \(backend) rm --all --yes"
    var advice = report.possiblyLost.isEmpty ? "" : session.commandToMoveAside ?? removal
    if found.omitted > 0 { advice = "repeat it for \(NumberText.count(found.omitted, "issue", "issues")) more" }
    global.warn(
      ErrorView(
        code: reason.code.rawValue,
        message: "\(reason.message): its damaged entries \(dryRun ? "would be" : "are") removed",
        hint: advice))
    return report
  }
}

extension Session {
  /// Names each store that was moved aside next to this one, and the commands that save it: neither a check nor a repair looks
  /// into it.
  fileprivate func warnOfStoresSetAside() async {
    guard let (plugin, options) = try? container.engine(configuration.backend),
      !plugin.declaration.isOnServer, let path = try? await plugin.inspect(options).path
    else { return }
    for moved in FileChecks(files: SystemFileInspection()).setAside(next: path) {
      global.warn(
        ErrorView(
          code: CacheError.Code.damaged.rawValue, message: "\(moved) was moved aside as damaged, and is not checked",
          hint: "save what can be read of it with: \(plugin.declaration.commandsToSave(storeAt: moved)); or delete it"))
    }
  }

  /// Opens the store and checks every entry. A store that is too damaged to open, or has ended a process, is reported as
  /// a finding.
  ///
  /// - Throws: `CacheError`: the check could not be made.
  func verify(progress: ProgressDisplay) async throws(CacheError) -> VerificationReport {
    defer { progress.finish() }
    do throws(CacheError) {
      // Opening the store would begin with an empty one.
      if let crashed = try container.crashedStore(backend: configuration.backend) { throw crashed.error }
      return try await withStore { store throws(CacheError) in
        try await store.administration.verify(progress: progress.update(done:total:))
      }
    } catch {
      guard error.code == .damaged else { throw error }
      var report = VerificationReport()
      report.add(IntegrityIssue(kind: .structure, message: error.message))
      return report
    }
  }
}

extension AppDIContainer {
  /// Moves the configured engine's damaged store aside, which must not be open, and writes what can be read of it into a
  /// new one.
  ///
  /// - Parameters:
  ///   - isDryRun: whether to leave the store unchanged, and only find out which entries would be saved.
  ///   - reader: creates the reader for the store at a path, of the engine with a name.
  /// - Throws: `CacheError`: `unsupported` if the engine cannot move a store; `busy` if the store is gone;
  ///   `unsupportedFormat` if a later version wrote it. If the disk has no room to move the store or to write the new
  ///   one, the message names the path of the damaged one.
  func repairStore(
    isDryRun: Bool, progress: @escaping (Int) -> Void,
    reader: (_ engine: String, _ path: String) throws(CacheError) -> some DamagedStoreReader
  ) async throws(CacheError) -> RepairReport {
    let (plugin, options) = try engine(configuration.backend)
    let name = plugin.declaration.name
    let moved = isDryRun ? [] : try await moveStoreAside(plugin, options)
    guard let path = isDryRun ? configuration.storePath(of: name) : moved.first else {
      throw CacheError(.unsupported, "backend \(name) cannot move a store aside")
    }
    var store: OpenStore?
    do throws(CacheError) {
      store = isDryRun ? nil : try await openStore()
      var repair = StoreRepair(
        try reader(name, path), into: store?.entries,
        isOrdered: plugin.declaration.capabilities.contains(.ordered), transforms: entryTransforms, progress: progress)
      var report = try await repair.run()
      report.movedTo = moved
      try await store?.close()
      return report
    } catch {
      try? await store?.close()
      if isDryRun { throw error }
      let message = "\(error.message); what could not be written is still in \(path)"
      // A full disk can keep the new store from being created, which is not a mistake in the setup.
      throw CacheError(
        error.code == .cannotCreate ? .noSpace : error.code, message,
        hint: "then save it with: \(plugin.declaration.commandsToSave(storeAt: path))", cause: error)
    }
  }

  private func moveStoreAside(
    _ plugin: any StoragePlugin, _ options: EngineConfiguration
  ) async throws(CacheError) -> [String] {
    var moved: [String] = []
    do throws(CacheError) {
      moved = try await plugin.removeStore(options, movingAside: clock.now.damagedSuffix)
    } catch {
      guard error.code == .noSpace else { throw error }
      throw CacheError(
        .noSpace, "\(error.message); the damaged store is still in its place",
        hint: "free some space, then repeat the repair", cause: error)
    }
    try crashedStore(backend: configuration.backend)?.removeMark()
    guard !moved.isEmpty else {
      throw CacheError(.busy, "another process has moved or removed the store", hint: "try again")
    }
    return moved
  }
}

extension VerificationReport {
  /// How many issues are not listed.
  fileprivate var omitted: Int { issueCount - issues.count }

  /// The issues, and how much of the store of `backend` was checked.
  func view(backend: String) -> ListView<IntegrityIssue> {
    ListView(issues, IntegrityIssue.columns, status: status(backend)) {
      .object(members($0, backend))
    } text: {
      issues.table("Issue", $0, $1)
    }
  }

  /// The member "omitted" appears if there are more issues than are listed, the member "unauthenticated" if there are sealed
  /// entries whose key is not configured.
  private func members(_ issues: [JSONValue], _ backend: String) -> [JSONValue.Member] {
    let counts = [("omitted", omitted), ("unauthenticated", unauthenticated)].filter { $0.1 > 0 }
    return [
      .init("backend", .string(backend)), .init("entriesChecked", .integer(entriesChecked)),
      .init("issues", .array(issues)),
    ] + counts.map { .init($0.0, .integer($0.1)) }
  }

  private func status(_ backend: String) -> StatusLine {
    let checked = "\(NumberText.count(entriesChecked, "entry", "entries")) of \(backend) checked"
    let found = issueCount > 0 ? NumberText.count(issueCount, "issue", "issues") : "no issues"
    let listed = omitted > 0 ? ["the first \(NumberText.text(issues.count)) are listed"] : []
    let sealed = NumberText.count(unauthenticated, "sealed entry", "sealed entries")
    let unknown = unauthenticated > 0 ? ["\(sealed) without a key: only checksums checked"] : []
    return StatusLine([checked, found] + listed + unknown, style: issueCount > 0 ? .red : .green)
  }

  /// The repair that followed this check of `backend`, or its dry run: the numbers of saved, found and lost entries,
  /// and the path of the damaged store. The document is that of the check, and the member "repair".
  func view(
    of repair: RepairReport, isDryRun: Bool, backend: String
  ) -> ListView<(issue: IntegrityIssue, outcome: String)> {
    let outcomes = [(issues, "found"), (repair.lost, "lost"), (repair.possiblyLost, "possiblyLost")]
    let saved = NumberText.count(repair.saved, "entry", "entries")
    let remark = isDryRun ? "Dry run: nothing was changed" : "saved \(saved); there may have been more"
    let columns: [Column<(issue: IntegrityIssue, outcome: String)>] = [
      Column("key") { JSONValue($0.issue.key?.text) }, Column("kind") { .string($0.issue.kind.rawValue) },
      Column("message") { .string($0.issue.message) }, Column("outcome") { .string($0.outcome) },
    ]
    return ListView(
      outcomes.flatMap { issues, outcome in issues.map { (issue: $0, outcome: outcome) } }, columns,
      status: StatusLine([remark], style: isDryRun ? .dim : .red)
    ) { _ in
      let report: JSONValue = [
        "dryRun": .boolean(isDryRun), "saved": .integer(repair.saved), "lost": .array(repair.lost.map(\.record)),
        "possiblyLost": .array(repair.possiblyLost.map(\.record)), "movedTo": JSONValue(repair.movedTo),
      ]
      return .object(members(issues.map(\.record), backend) + [.init("repair", report)])
    } text: { screen, _ in
      let (savedTitle, lostTitle) = isDryRun ? ("Would save", "Would lose") : ("Saved", "Lost")
      var figures = [Field(line: savedTitle, .init(saved, .green))]
      if !repair.lost.isEmpty {
        figures.append(Field(line: lostTitle, .init(NumberText.count(repair.lost.count, "entry", "entries"), .red)))
      }
      if let path = repair.movedTo.first { figures.append(Field(line: "Damaged store", .init(path))) }
      let tables = [
        RecordView(figures).table(on: screen, hasHeader: false), issues.table("Issue", screen, true),
        (repair.lost + repair.possiblyLost).table(lostTitle, screen, true),
      ]
      return tables.filter { !$0.isEmpty }.joined(separator: "\n")
    }
  }
}

extension IntegrityIssue {
  fileprivate static let columns: [Column<IntegrityIssue>] = [
    Column("key") { JSONValue($0.key?.text) }, Column("kind") { .string($0.kind.rawValue) },
    Column("message") { .string($0.message) },
  ]

  fileprivate var record: JSONValue { .object(Self.columns.members(of: self)) }
}

extension [IntegrityIssue] {
  /// A line for each issue; on a narrow screen the message goes below the key. Keys are never cut: people copy them.
  fileprivate func table(_ title: String, _ screen: Screen, _ hasHeader: Bool) -> String {
    Table(
      [.init(title), .init("Key"), .init("Message")],
      rows: map { [.init($0.kind.rawValue, .red), .init($0.key?.text), .init($0.message)] }
    ).text(on: screen, hasHeader: hasHeader, layout: .stacked(leading: 2, below: .max))
  }
}
