/// `rm`.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove entries, or make them stale",
    usage: "cachectl rm KEY|URL... [options]\ncachectl rm --match GLOB [options]\ncachectl rm --all [options]",
    discussion: """
      An entry is removed if it meets every condition. If no entry does, or a key has no entry, the exit code is 66. --all \
      removes everything: on a terminal it asks for confirmation, elsewhere it needs --yes. It leaves an empty, intact store \
      even if the old one is damaged or the disk is full. --soft makes entries stale instead: the next fetch revalidates them, \
      and serves them if the origin fails.
      """,
    examples: [
      "cachectl rm --state expired", "cachectl rm --namespace movies --older-than 7d --dry-run",
      "cachectl rm --soft https://example.com/data.json", "cachectl rm --match 'https://example.com/*'",
      "cachectl rm --all --yes",
    ])

  @Argument(
    help: ArgumentHelp("The keys, as `ls` shows them, or the URLs that were fetched", valueName: "key|url"),
    completion: .keys)
  var keys: [String] = []

  @OptionGroup
  var entries: EntryFlags

  @Option(help: ArgumentHelp("Select entries that were stored at least DURATION ago", valueName: "duration"))
  var olderThan: DurationText?

  @Flag(help: "Remove every entry")
  var all = false

  @Flag(help: "Make entries stale instead of removing them")
  var soft = false

  @Flag(help: "Only say what would be done")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask for confirmation")
  var yes = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  private var selection: EntrySelection { entries.selection(minimumAge: olderThan) }
  private var hasConditions: Bool { selection != EntrySelection() }

  func validate() throws(ValidationError) {
    switch [!keys.isEmpty, hasConditions, all].count(where: { $0 }) {
    case 0: throw ValidationError("nothing to remove: give keys, conditions or --all")
    case 1: break
    default: throw ValidationError("keys, conditions and --all exclude each other")
    }
  }

  func run() async throws {
    let session = try Session(global)
    if all, !dryRun, !yes {
      guard Question.canBeAsked else {
        throw ValidationError("--all needs a confirmation, and there is no terminal to ask for it: add --yes")
      }
      guard await isConfirmed(session) else {
        global.remark(StatusLine([soft ? "Nothing was made stale" : "Nothing was removed"]))
        throw ExitCode.validationFailure
      }
    }
    let removal = try await remove(session)
    let backend = session.configuration.backend
    try global.show(removal.view(backend: backend, isSoft: soft, isDryRun: dryRun))
    if let name = removal.missing.first { throw EntryName.notFound(name) }
    if let failure = removal.report.damaged.damage(of: backend, not: "made stale") { throw failure }
    if hasConditions, removal.report.entries == 0 { throw nothingMatches }
  }

  /// The error that no entry meets the conditions: one of them might be misspelled.
  private var nothingMatches: CacheError {
    let age = olderThan.map { ["--older-than \($0)"] } ?? []
    let conditions = (entries.conditions + age).joined(separator: " ")
    let entry = soft ? "no fresh entry" : "no entry"
    return CacheError(.notFound, "\(entry) matches \(conditions)", hint: "see which there are with: cachectl ls")
  }

  private func remove(_ session: Session) async throws(CacheError) -> Removal {
    if all, !dryRun, !soft {
      CrashNotice.runAgainAfterDamage()
      return try await session.removeAll()
    }
    if dryRun { try session.requireIntactStore(session.configuration.backend) }
    let change: EntryChange = soft ? .makeStale : .remove
    return try await session.withStore { store throws(CacheError) in
      guard keys.isEmpty else { return try await self.change(change, in: store) }
      return Removal(report: try await store.administration.change(change, selection, dryRun: dryRun))
    }
  }

  /// Changes the entries that were named. A URL stands for all its entries.
  private func change(_ change: EntryChange, in store: OpenStore) async throws(CacheError) -> Removal {
    var (named, missing) = ([CacheKey](), [String]())
    for name in keys {
      let name = try EntryName(name)
      // It might be fetched for the first time now.
      if !dryRun { for url in name.urls { try await store.administration.endRequests(for: url) } }
      let found = try await name.keys(in: store)
      if found.isEmpty { missing.append(name.text) }
      named += found
    }
    let report = try await store.administration.change(change, keys: named, dryRun: dryRun)
    return Removal(report: report, missing: report.missing.map(\.text) + missing)
  }

  /// Whether the user agrees to remove everything in the store. The question omits the amount if the store is damaged,
  /// or only a walk through it would tell.
  private func isConfirmed(_ session: Session) async -> Bool {
    var count: StoreCount?
    // Opening a crashed store would move it aside.
    if (try? session.container.crashedStore(backend: session.configuration.backend)) == nil {
      count = try? await session.withStore { store throws(CacheError) in try await store.entries.count() }
    }
    let amount = count.map { count in
      " (\(NumberText.count(count.entries, "entry", "entries")), \(ByteCountText.text(count.payloadBytes)))"
    }
    let entries = "every entry of \(session.configuration.backend)\(amount ?? "")"
    return Question.confirm(soft ? "Make \(entries) stale?" : "Remove \(entries)?")
  }
}

/// The result of a removal, or of making entries stale.
struct Removal {
  var report = RemovalReport()
  /// The keys and URLs without entries.
  var missing: [String] = []
  /// The remark that an empty store replaced one from which no entry could be removed.
  var replacement: String?

  /// The document, and one line such as "Removed 12 entries (1.4 MiB) from ENGINE". With `isSoft` the entries were made stale.
  func view(backend: String, isSoft: Bool, isDryRun: Bool) -> RecordView {
    let entries = NumberText.entries(report.entries, report.payloadBytes)
    let text =
      isSoft
      ? "\(isDryRun ? "Would make" : "Made") \(entries) of \(backend) stale"
      : "\(isDryRun ? "Would remove" : "Removed") \(entries) from \(backend)"
    return RecordView(
      [
        Field("backend", .string(backend)), Field("removed", .integer(report.entries)),
        Field("bytes", .integer(report.payloadBytes)), Field("missing", JSONValue(missing)),
        Field("dryRun", .boolean(isDryRun)), Field("soft", .boolean(isSoft)),
      ], line: text, status: replacement.map { StatusLine([$0]) })
  }
}

extension Session {
  /// The failures that stop the removal of entries, but not of the whole store.
  private static let removable: Set<CacheError.Code> = [
    .damaged, .unsupportedFormat, .noSpace, .ioFailed, .tooLarge,
  ]

  /// Removes every entry of the configured engine's store. Replaces a damaged store, or one without the space to remove
  /// entries, by an empty one.
  ///
  /// - Throws: `CacheError`: the store is out of reach, or another process has files open that would have to be
  ///   removed.
  func removeAll() async throws(CacheError) -> Removal {
    var removal = Removal()
    var isEmpty = false
    if let crashed = try container.crashedStore(backend: configuration.backend) {
      removal.replacement = try await replaceStore(because: crashed.error)
      try crashed.removeMark()
    }
    do throws(CacheError) {
      try await withStore(creating: removal.replacement != nil) { store throws(CacheError) in
        try await store.administration.removeAll {
          removal.report = RemovalReport(entries: $0.entries, payloadBytes: $0.payloadBytes)
        }
        isEmpty = true
        try await store.administration.requireRoom()
      }
    } catch {
      guard Self.removable.contains(error.code) else { throw error }
      do throws(CacheError) {
        removal.replacement = try await replaceStore(because: error)
      } catch {
        // Another process uses the store, which is empty already.
        guard isEmpty, error.code == .busy else { throw error }
      }
      // If there is no space for a new store now, the next command creates it.
      do throws(CacheError) { try await withStore(creating: true) { _ in } } catch {
        guard [.noSpace, .cannotCreate].contains(error.code) else { throw error }
      }
    }
    return removal
  }

  /// The command that makes room for an empty store if the engine can neither remove its store nor move it aside; `nil` for
  /// a store without a path. Nothing has the new name: `mv` would replace a file that was moved aside before.
  var commandToMoveAside: String? {
    guard var path = configuration.storePath else { return nil }
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    let name = StoreFiles().freeName(path + container.clock.now.damagedSuffix)
    return "move it aside with: mv \(path.shellWord) \(name.shellWord)"
  }

  /// Removes the store, so that the next opening creates an empty one.
  ///
  /// - Returns: the remark that says so.
  private func replaceStore(because reason: CacheError) async throws(CacheError) -> String {
    do throws(CacheError) {
      let (plugin, options) = try container.engine(configuration.backend)
      _ = try await plugin.removeStore(options, movingAside: nil)
    } catch {
      guard error.code == .unsupported else { throw error }
      throw CacheError(
        reason.code, reason.message, hint: commandToMoveAside ?? reason.hint, key: reason.key, cause: reason)
    }
    return "\(configuration.backend): an empty store has taken the place of the old one (\(reason.message))"
  }
}
