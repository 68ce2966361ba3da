public import FetchVocabulary
public import StorageSPI

/// Reads a damaged store, in a process that may die of it.
public protocol DamagedStoreReader {
  /// Begins to read `range`, which lists up to `pageSize` entries at a time, and ends what was being read before.
  ///
  /// - Throws: `CacheError`: no process can be started.
  mutating func begin(_ range: KeyRange, pageSize: Int) throws(CacheError)

  /// What comes next; `end` and `stopped` once each.
  ///
  /// - Throws: `CacheError` with the code `cancelled`.
  mutating func next() async throws(CacheError) -> DamagedStoreItem
}

/// What is met while reading a damaged store.
public enum DamagedStoreItem: Sendable {
  /// The entry under the key is read next: if nothing else comes, it is this one that cannot be read.
  case reading(CacheKey)
  /// An entry whose checksum is right.
  case entry(ExportedEntry)
  /// An entry that is listed and cannot be read, or is not what was written.
  case lost(CacheKey, reason: String)
  /// The range has no more entries.
  case end
  /// The rest of the range cannot be read; `isSilent` if nothing came for too long.
  case stopped(reason: String, isSilent: Bool = false)
}

/// Saves what can be read of a damaged store, which may be more than an engine returns in order: it reads forwards from
/// the first entry, and where reading stops, backwards from the last one.
///
/// It keeps the entries that are what was written. It drops entries that lack a required transform, or were changed after
/// they were sealed.
public struct StoreRepair<Reader: DamagedStoreReader> {
  /// How often to continue behind an entry that cannot be read, in one direction.
  private static var maximumRestarts: Int { 1_000 }
  /// How often reading may stop because nothing comes, in one direction: each takes a minute.
  private static var maximumSilences: Int { 3 }

  private var reader: Reader
  private let transforms: TransformPipeline
  private var writer: EntryWriter
  private var report = RepairReport()
  /// Called with the number of entries found so far.
  private let progress: (Int) -> Void
  private var found = 0

  /// - Parameters:
  ///   - store: where to write the entries; `nil` to find out what would be saved. An entry that another process has
  ///     stored there stays, unless it is older.
  ///   - transforms: what the entries were written with.
  public init(
    _ reader: Reader, into store: EntryStore?, transforms: EntryTransforms = .none,
    progress: @escaping (Int) -> Void = { _ in }
  ) {
    (self.reader, self.transforms, self.progress) = (reader, TransformPipeline(transforms), progress)
    writer = EntryWriter(to: store, TransferOptions(isDryRun: store == nil))
  }

  /// Saves what can be read.
  ///
  /// - Throws: `CacheError`: the entries cannot be written, no process can be started, or `cancelled`.
  public mutating func run() async throws(CacheError) -> RepairReport {
    let (last, isComplete) = try await read(isDescending: false, to: nil)
    if !isComplete { _ = try await read(isDescending: true, to: last) }
    try await writer.flush()
    // What others have stored meanwhile under the same key is as good as saved.
    report.saved = writer.counts.written + writer.counts.present + writer.counts.kept
    return report
  }

  /// Reads in one direction, at most to the key `end`.
  ///
  /// - Returns: the last key that was met, and whether nothing came in the way.
  private mutating func read(
    isDescending: Bool, to end: CacheKey?
  ) async throws(CacheError) -> (last: CacheKey?, isComplete: Bool) {
    var range = KeyRange(isDescending: isDescending)
    var (begun, reading) = (CacheKey?.none, CacheKey?.none)
    var (restarts, silences) = (0, 0)
    try reader.begin(range, pageSize: StoreWalk.pageSize)
    while true {
      switch try await reader.next() {
      case .end:
        addUnanswered(reading)
        return (range.after, true)
      case .reading(let key):
        addUnanswered(reading)
        if let end, key <= end { return (range.after, true) }
        reading = key
      case .entry(let entry):
        range.after = entry.key
        reading = nil
        try await save(entry)
      case .lost(let key, let reason):
        if reading != key { addUnanswered(reading) }
        if let end, key <= end { return (range.after, true) }
        range.after = key
        reading = nil
        report.addLost(.unreadable(key, reason))
      case .stopped(let reason, let isSilent):
        if isSilent { silences += 1 }
        if let key = reading.take() {
          range.after = key
          report.addLost(.unreadable(key, reason))
        }
        // A page may fail because of its last entry: read one by one, until even the next entry cannot be listed.
        guard restarts == 0 || range.after != begun, restarts < Self.maximumRestarts, silences < Self.maximumSilences
        else {
          let issue = IntegrityIssue(kind: .structure, message: reason)
          if !report.possiblyLost.contains(issue) { report.possiblyLost.append(issue) }
          return (range.after, false)
        }
        (begun, restarts) = (range.after, restarts + 1)
        try reader.begin(range, pageSize: 1)
      }
    }
  }

  /// Nothing came of the entry that was announced as read.
  private mutating func addUnanswered(_ key: CacheKey?) {
    if let key { report.addLost(.unreadable(key, "entry \(key) cannot be read")) }
  }

  private mutating func save(_ entry: ExportedEntry) async throws(CacheError) {
    guard entry.metadata.transformSteps != nil else {
      return report.addLost(.unknownTransforms(entry.key))
    }
    do throws(CacheError) {
      try transforms.authenticate(entry.payload.span, entry.metadata, key: entry.key)
    } catch {
      // Without its key a seal cannot be judged: then the entry is saved.
      if let issue = IntegrityIssue(of: entry.key, because: error) { return report.addLost(issue) }
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
  /// Why reading stopped: there may have been more entries behind those places.
  public var possiblyLost: [IntegrityIssue] = []
  /// Where the damaged store is now; empty after a dry run, or if the engine cannot move it.
  public var movedTo: [String] = []

  /// A report without anything.
  public init() {}

  mutating func addLost(_ issue: IntegrityIssue) {
    if lost.count < VerificationReport.maximumIssues { lost.append(issue) }
  }
}

extension IntegrityIssue {
  fileprivate static func unreadable(_ key: CacheKey, _ reason: String) -> IntegrityIssue {
    IntegrityIssue(key: key, kind: .undecodable, message: reason)
  }
}

extension StoreAdministration {
  /// Passes everything that can be read of `range` to `body`, for another process to save: see `DamagedStoreReader`.
  ///
  /// It lists page by page; where a page fails, entry by entry. It skips an entry that cannot be listed if the engine
  /// names it.
  ///
  /// - Throws: `CacheError`: what `body` throws, or why the rest of the range cannot be read.
  public func readDamaged(
    _ range: KeyRange, pageSize: Int, _ body: (DamagedStoreItem) throws(CacheError) -> Void
  ) async throws(CacheError) {
    var (range, limit) = (range, pageSize)
    while true {
      let page: [EntrySummary]
      do throws(CacheError) {
        page = try await store.engine.scan(range, limit: limit)
      } catch {
        guard error.isOfData else { throw error }
        if limit == 1 {
          guard let lost = error.cause as? UnreadableEntry, range.contains(lost.key) else { throw error }
          try body(.lost(lost.key, reason: error.message))
          range.after = lost.key
        }
        limit = 1
        continue
      }
      // A damaged tree may lead back to where it came from.
      let entries = page.filter { range.contains($0.key) }
      let histories = (try? store.accesses.histories(of: entries.map(\.key))) ?? []
      for (index, entry) in entries.enumerated() where entry.key.namespace != Lease.namespace {
        if Task.isCancelled { throw .cancelled }
        try body(.reading(entry.key))
        try body(await item(entry.key, index < histories.count ? histories[index] : AccessHistory()))
      }
      await store.engine.releaseMemory()
      guard page.count >= limit else { return try body(.end) }
      guard let last = entries.last else { throw CacheError(.damaged, "the keys are not in order") }
      range.after = last.key
    }
  }

  private func item(_ key: CacheKey, _ history: AccessHistory) async -> DamagedStoreItem {
    do throws(CacheError) {
      let entry = try await store.export(key, history: history == AccessHistory() ? nil : history)
      return entry.map { .entry($0) } ?? .lost(key, reason: "entry \(key) is listed, but not found by its key")
    } catch {
      return .lost(key, reason: error.message)
    }
  }
}
