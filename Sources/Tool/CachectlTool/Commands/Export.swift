struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write entries with all their metadata as lines of JSON",
    discussion: """
      Without FILE, or if it is -, the lines are written to stdout, whatever --output says. FILE is written whole or not at \
      all, and only you can read it. Damaged entries are left out; the exit code is then 65.
      """,
    examples: [
      "cachectl export cache.ndjson", "cachectl export --namespace movies | gzip > movies.ndjson.gz",
      "cachectl export | cachectl --backend lmdb import",
    ])

  @Argument(help: "The file to write", completion: .file())
  var file: String?

  @OptionGroup
  var entries: EntryFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  /// The path of the file; `nil` for stdout.
  private var path: String? { file?.meansOutput == true ? nil : file }

  func run() async throws {
    let session = try Session(global)
    let report = try await session.withStore { store throws(CacheError) in try await write(store) }
    let backend = session.configuration.backend
    if let path {
      try global.show(RecordView(exported: report, backend: backend, file: path))
    } else {
      global.remark(StatusLine([report.exportText(backend: backend, file: nil)]))
    }
    if let failure = report.damaged.damage(of: backend, not: "exported") { throw failure }
  }

  private func write(_ store: OpenStore) async throws(CacheError) -> TransferReport {
    // Lines that scroll by on the terminal are progress enough.
    let isSeen = path == nil && Console.output.screen.isTerminal
    let progress = ProgressDisplay("Exporting", isVisible: global.showsProgress && !isSeen)
    defer { progress.finish() }
    func export(to write: ([UInt8]) throws(CacheError) -> Void) async throws(CacheError) -> TransferReport {
      try await store.entries.export(entries.selection(), progress: progress.update(done:total:), to: write)
    }
    guard let path else {
      return try await export { lines throws(CacheError) in
        try Console.output.write(isSeen ? JSONText.safe(lines) : lines)
      }
    }
    let file = try AtomicFile(path, isPrivate: true)
    let report = try await export { lines throws(CacheError) in try file.write(lines) }
    try file.commit()
    return report
  }
}

extension RecordView {
  /// The export of the store of `backend` to `file`.
  init(exported report: TransferReport, backend: String, file: String) {
    self.init(
      [
        Field("backend", .string(backend)), Field("file", .string(file)), Field("exported", .integer(report.written)),
        Field("bytes", .integer(report.bytes)), Field("damaged", .integer(report.damaged.count)),
      ], line: report.exportText(backend: backend, file: file))
  }
}

extension TransferReport {
  /// A line such as "Exported 12 entries (1.4 MiB) of ENGINE to cache.ndjson".
  func exportText(backend: String, file: String?) -> String {
    "Exported \(NumberText.entries(written, bytes)) of \(backend)" + (file.map { " to \($0)" } ?? "")
  }

  /// How many entries were left out, for any reason.
  var skipped: Int { present + kept + expired }
}

extension NumberText {
  /// A number of entries and the size of their payloads, such as "12 entries (1.4 MiB)".
  static func entries(_ count: Int, _ bytes: Int) -> String {
    "\(NumberText.count(count, "entry", "entries")) (\(ByteCountText.text(bytes)))"
  }
}

extension KeySample {
  /// The number of keys to name in a message.
  private static let named = 3

  /// The error that the entries have a problem, with the first of their keys; `nil` if there are none.
  ///
  /// It reads like "2 entries of ENGINE are damaged, and not copied (a/1, a/2)".
  func failure(of backend: String, _ problem: String, hint: String) -> CacheError? {
    guard count > 0 else { return nil }
    let names = first.prefix(Self.named).map(\.text).joined(separator: ", ") + (count > Self.named ? ", ..." : "")
    let entries = NumberText.count(count, "entry", "entries")
    return CacheError(
      .damaged, "\(entries) of \(backend) \(count == 1 ? "is" : "are") \(problem) (\(names))", hint: hint)
  }

  /// The error that the entries of `backend` are damaged; `nil` if there are none.
  func damage(of backend: String, not consequence: String) -> CacheError? {
    failure(
      of: backend, "damaged, and not \(consequence)", hint: "see: cachectl --backend \(backend) verify --repair")
  }
}
