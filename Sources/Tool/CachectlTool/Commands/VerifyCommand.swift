internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// `verify`.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the store and every entry in it, and repair it on demand",
    discussion: """
      The structure of the store is checked by the engine's own means, then each entry by its checksum, and by its \
      seal if it is sealed and its key is configured. The exit code is 65 if something is wrong.

      A repair moves the damaged store aside, and never deletes it. Another process, which damage can end, reads what can \
      still be read, and a new store receives it. There may have been more entries, so the exit code is 65 even then. A \
      dry run only says what would be saved.

      Examples:
        cachectl verify
        cachectl verify --repair --dry-run
        cachectl --backend lmdb verify --repair
      """)

  @Flag(help: "Save what can be read into a new store, and move the damaged one aside")
  var repair = false

  @Flag(help: "With --repair: only say what would be saved")
  var dryRun = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if dryRun, !repair { throw ValidationError("--dry-run goes with --repair") }
  }

  func run() async throws {
    let session = try Session(global)
    if repair { CrashNotice.runAgainAfterDamage() }
    let found = try await verify(session)
    guard found.hasIssues, repair else {
      try global.show(found)
      guard found.hasIssues else { return }
      if global.output == .table {
        let backend = session.configuration.backend
        global.remark(StatusLine(["Save what can be read with: cachectl --backend \(backend) verify --repair"]))
      }
      throw ExitCode.dataError
    }
    let report = try await repaired(found, session)
    try global.show(RepairView(report, isDryRun: dryRun, result: found))
    throw ExitCode.dataError
  }

  private func verify(_ session: Session) async throws(CacheError) -> IntegrityView {
    let progress = ProgressDisplay("Verifying", isVisible: global.showsProgress)
    defer { progress.finish() }
    return try await session.container.verify(
      withStore: { body throws(CacheError) in try await session.withStore(body) },
      progress: { progress.update(done: $0, total: $1) })
  }

  /// Repairs the store. If the engine cannot move it aside, removes the damaged entries from it instead.
  private func repaired(_ found: IntegrityView, _ session: Session) async throws(CacheError) -> RepairReport {
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
    _ found: IntegrityView, because reason: CacheError, _ session: Session
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
    var advice = report.possiblyLost.isEmpty ? "" : "empty the store with: cachectl --backend \(backend) rm --all --yes"
    if found.omitted > 0 { advice = "repeat it for \(NumberText.count(found.omitted, "issue", "issues")) more" }
    global.warn(
      ErrorView(
        code: reason.code.rawValue,
        message: "\(reason.message): its damaged entries \(dryRun ? "would be" : "are") removed",
        hint: advice))
    return report
  }
}
