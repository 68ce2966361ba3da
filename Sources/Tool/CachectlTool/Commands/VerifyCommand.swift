internal import CachectlArguments
internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

/// `verify`.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the store and every entry in it, and repair it on demand",
    discussion: """
      The structure of the store is checked by the engine's own means, then each entry by its checksum, and by its \
      seal if it is sealed and its key is configured. The status is 65 if something is wrong.

      A repair saves every entry that can still be read. The damaged files are moved aside, never removed: their new \
      names tell the time of the repair. The status is 65 if an entry was lost, or may have been, or something \
      remains wrong; otherwise 0. A dry run says what a repair would save and lose, and changes nothing.

      Examples:
        cachectl verify
        cachectl verify --repair --dry-run
        cachectl --backend lmdb verify --repair
      """)

  @Flag(help: "Save what can be read, and set the damaged files aside")
  var repair = false

  @Flag(help: "With --repair: only say what would be saved and lost")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if dryRun, !repair { throw ValidationError("--dry-run goes with --repair") }
  }

  func run() async throws {
    let session = try Session(global)
    let found = try await verify(session, "Verifying")
    guard found.hasIssues, repair, let result = try await repair(session) else {
      try global.show(found)
      if found.hasIssues, !repair { adviseRepair(session.configuration.backend) }
      if found.hasIssues { throw ExitCode.dataError }
      return
    }
    let view =
      dryRun
      ? RepairView(result, isDryRun: true, result: found)
      : RepairView(
        try await completed(result, by: found, session), result: try await verify(session, "Verifying again"))
    try global.show(view)
    if view.isFailure { throw ExitCode.dataError }
  }

  private func verify(_ session: Session, _ label: String) async throws(CacheError) -> IntegrityView {
    let progress = ProgressDisplay(label, isVisible: global.showsProgress)
    defer { progress.finish() }
    return try await session.container.verify(
      repairs: repair,
      withStore: { body throws(CacheError) in try await session.withStore(body) },
      progress: { progress.update(done: $0, total: $1) })
  }

  /// Adds lost entries to `result` that only the check before the repair has seen: a check of a server removes the index
  /// lines of entries that the server has dropped, so the repair no longer knows of them.
  private func completed(
    _ result: RepairReport, by found: IntegrityView, _ session: Session
  ) async throws(CacheError) -> RepairReport {
    let named = Set((result.lost + result.mended).compactMap(\.key))
    let others = found.issues.filter { issue in issue.key.map { !named.contains($0) } ?? false }
    if others.isEmpty { return result }
    var lost = try await session.withStore { store throws(CacheError) in
      try await store.administration.aboutAbsentEntries(others)
    }
    if !lost.isEmpty, found.omitted > 0 {
      let rest = NumberText.count(found.omitted, "further issue was", "further issues were")
      lost.append(
        IntegrityIssue(kind: .structure, message: "\(rest) found before the repair, and may be about lost entries"))
    }
    return RepairReport(saved: result.saved, lost: lost + result.lost, mended: result.mended, movedTo: result.movedTo)
  }

  private func adviseRepair(_ backend: String) {
    guard global.output == .table else { return }
    global.remark(StatusLine(["Save the sound entries with: cachectl --backend \(backend) verify --repair"]))
  }

  /// What the repair did; `nil`, after telling the user, if the engine cannot repair.
  private func repair(_ session: Session) async throws(CacheError) -> RepairReport? {
    var line = TransientLine(isVisible: global.showsProgress)
    line.show("\(dryRun ? "Examining" : "Repairing") \(session.configuration.backend)")
    defer { line.clear() }
    do throws(CacheError) {
      return try await session.container.repairStore(isDryRun: dryRun)
    } catch {
      guard error.code == .unsupported else { throw error }
      line.clear()
      global.warn(ErrorView(error))
      return nil
    }
  }
}
