public import EngineAPI

/// Reads a damaged store, in a process that can die of it.
public protocol DamagedStoreReader {
  /// Begins to read the entries of `request` and all that follow, in pages of its limit, and ends an earlier read.
  ///
  /// - Throws: `CacheError`: no process can be started.
  mutating func begin(_ request: ScanRequest) throws(CacheError)

  /// The next item; `end` and `stopped` once each.
  ///
  /// - Throws: `CacheError` with the code `cancelled`.
  mutating func next() async throws(CacheError) -> DamagedStoreItem
}

/// An item found while reading a damaged store.
public enum DamagedStoreItem: Sendable {
  /// The entry under the key comes next: if nothing else comes, it is this one that cannot be read. The entries of a page are
  /// announced once they have been read, a single one before that.
  case reading(CacheKey)
  /// An entry whose checksums are right.
  case entry(ExportedEntry)
  /// An entry that is listed and cannot be read, or differs from the written one.
  case lost(CacheKey, reason: String)
  /// The range has no more entries.
  case end
  /// The rest of the range cannot be read; `isSilent` if nothing came for too long.
  case stopped(reason: String, isSilent: Bool = false)
}

/// Saves what can be read of a damaged store, which might be more than an engine returns in order: it reads forwards
/// from the first entry, and where reading stops, backwards from the last one. An engine that is not `ordered` is only
/// read until reading stops.
///
/// It keeps the intact entries. It drops entries that lack a required transform, or were changed after they were
/// sealed.
public struct StoreRepair<Reader: DamagedStoreReader> {
  /// How often to continue behind an entry that cannot be read, in one direction.
  private static var maximumRestarts: Int { 1_000 }
  /// How often reading can stop because nothing comes, in one direction: each takes a minute. The first time it is a
  /// page that hangs, and does not say at which entry.
  private static var maximumSilences: Int { 4 }

  private var reader: Reader
  private let isOrdered: Bool
  private let transforms: TransformPipeline
  private var writer: EntryWriter
  private var report = RepairReport()
  /// Called with the number of entries found so far.
  private let progress: (Int) -> Void
  private var found = 0

  /// - Parameters:
  ///   - store: where to write the entries; `nil` to find out what would be saved. An entry that another process has
  ///     stored there stays, unless it is older.
  ///   - isOrdered: whether the engine is `ordered`, so that a scan can begin behind any key, and run backwards.
  ///   - transforms: what the entries were written with.
  public init(
    _ reader: Reader, into store: EntryStore?, isOrdered: Bool = true, transforms: EntryTransforms = .none,
    progress: @escaping (Int) -> Void = { _ in }
  ) {
    self.reader = reader
    self.isOrdered = isOrdered
    self.transforms = TransformPipeline(transforms)
    self.progress = progress
    writer = EntryWriter(to: store, TransferOptions(isDryRun: store == nil))
  }

  /// Saves what can be read.
  ///
  /// - Throws: `CacheError`: the entries cannot be written, no process can be started, or `cancelled`.
  public mutating func run() async throws(CacheError) -> RepairReport {
    let (last, isComplete) = try await read(isDescending: false, to: nil)
    if !isComplete, isOrdered { _ = try await read(isDescending: true, to: last) }
    try await writer.flush()
    // An entry that others have stored under the same key meanwhile counts as saved.
    report.saved = writer.report.written + writer.report.present + writer.report.kept
    return report
  }

  /// Reads in one direction, at most to the key `end`.
  ///
  /// - Returns: the last key that was met, and whether nothing came in the way.
  private mutating func read(
    isDescending: Bool, to end: CacheKey?
  ) async throws(CacheError) -> (last: CacheKey?, isComplete: Bool) {
    var request = ScanRequest(includesPayloads: true, isDescending: isDescending)
    var last: CacheKey?
    var begun: CacheKey?
    var reading: CacheKey?
    var restarts = 0
    var silences = 0
    try reader.begin(request)
    while true {
      switch try await reader.next() {
      case .end:
        addUnanswered(reading)
        return (last, true)
      case .reading(let key):
        addUnanswered(reading)
        if let end, key <= end { return (last, true) }
        reading = key
      case .entry(let entry):
        if let end, entry.key <= end { return (last, true) }
        last = entry.key
        reading = nil
        try await save(entry)
      case .lost(let key, let reason):
        if reading != key { addUnanswered(reading) }
        if let end, key <= end { return (last, true) }
        last = key
        reading = nil
        report.addLost(.undecodable(key, reason))
      case .stopped(let reason, let isSilent):
        if isSilent { silences += 1 }
        if let key = reading.take() {
          last = key
          report.addLost(.undecodable(key, reason))
        }
        // A page can fail because of its last entry: read one by one, until even the next entry cannot be listed.
        guard isOrdered, restarts == 0 || last != begun, restarts < Self.maximumRestarts,
          silences < Self.maximumSilences
        else {
          let issue = IntegrityIssue(kind: .structure, message: reason)
          if !report.possiblyLost.contains(issue) { report.possiblyLost.append(issue) }
          return (last, false)
        }
        begun = last
        restarts += 1
        request.position = last?.text
        request.limit = 1
        try reader.begin(request)
      }
    }
  }

  /// Nothing came of the entry that was announced as read.
  private mutating func addUnanswered(_ key: CacheKey?) {
    if let key { report.addLost(.undecodable(key, "entry \(key) cannot be read")) }
  }

  private mutating func save(_ entry: ExportedEntry) async throws(CacheError) {
    // Without its key a seal cannot be judged: then the entry is saved.
    if let issue = transforms.check(entry.payload.span, entry.metadata, key: entry.key).issue {
      return report.addLost(issue)
    }
    try await writer.add(entry)
    found += 1
    progress(found)
  }
}

/// The result of repairing a store.
public struct RepairReport: Sendable {
  /// The number of entries that were saved.
  public var saved = 0
  /// The first 10,000 entries that are known to be lost.
  public var lost: [IntegrityIssue] = []
  /// Why reading stopped: there might have been more entries behind those places.
  public var possiblyLost: [IntegrityIssue] = []
  /// The new paths of the damaged store; empty after a dry run, or if the engine cannot move it.
  public var movedTo: [String] = []

  /// A report without anything.
  public init() {}

  mutating func addLost(_ issue: IntegrityIssue) {
    if lost.count < VerificationReport.maximumIssues { lost.append(issue) }
  }
}

extension StoreAdministration {
  /// Passes everything that can be read from `request` on to `body`, for another process to save: see `DamagedStoreReader`.
  ///
  /// It reads page by page; if a page fails, smaller ones. It skips an entry that cannot be read if the engine names
  /// it. With a limit of one it lists each entry before it reads it, because reading can end the process.
  ///
  /// - Throws: `CacheError`: what `body` throws, or why nothing more can be read.
  public func readDamaged(
    _ request: ScanRequest, _ body: (DamagedStoreItem) throws(CacheError) -> Void
  ) async throws(CacheError) {
    var request = request
    request.includesPayloads = request.limit > 1
    var walk = StoreWalk(store, request)
    func skip(_ key: CacheKey, _ reason: String) throws(CacheError) -> Bool {
      try body(.lost(key, reason: reason))
      return true
    }
    while var page = try await walk.next(skipping: skip) {
      if store.isOrdered {
        // A damaged tree has led back to an earlier entry.
        request.position = walk.start
        page = page.filter { request.contains($0.key) }
      }
      let uses = (try? store.uses.histories(of: page.map(\.key))) ?? page.map { _ in AccessHistory() }
      for (entry, use) in zip(page, uses) where entry.key.namespace != Lease.namespace {
        if Task.isCancelled { throw .cancelled }
        try body(.reading(entry.key))
        try body(await item(entry, use, after: walk.start, isDescending: request.isDescending))
      }
    }
    try body(.end)
  }

  /// The item for an entry that was listed after `position`; if it was listed without its payload, it is read now.
  private func item(
    _ listed: ScannedEntry, _ use: AccessHistory, after position: String?, isDescending: Bool
  ) async -> DamagedStoreItem {
    do throws(CacheError) {
      var entry = listed
      if listed.payload == nil {
        let page = try await store.engine.scan(
          ScanRequest(after: position, limit: 1, includesPayloads: true, isDescending: isDescending))
        guard let read = page.entries.first, read.key == listed.key else {
          return .lost(listed.key, reason: "entry \(listed.key) is listed, but not found")
        }
        entry = read
      }
      return .entry(try ExportedEntry(entry, use))
    } catch {
      return .lost(listed.key, reason: error.message)
    }
  }
}
