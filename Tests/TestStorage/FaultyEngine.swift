package import EngineAPI
internal import Synchronization

/// A call of an engine.
package enum EngineCall: Sendable {
  case read(CacheKey), apply(WriteBatch), scan(ScanRequest), count, check, compact, close
}

/// How an engine misbehaves on purpose. By default it does not.
package struct Faults: Sendable {
  /// Called before each call with the engine inside: it makes the call fail by throwing, and wait by waiting, or does what
  /// another writer does just before.
  package var before: @Sendable (EngineCall, any StorageEngine) async throws(CacheError) -> Void = { _, _ in }
  /// The same, called after a call that has succeeded.
  package var after: @Sendable (EngineCall, any StorageEngine) async throws(CacheError) -> Void = { _, _ in }
  /// Makes the entry that a read lends from the one that is there; `nil` hides it.
  package var entry: @Sendable (CacheKey, EntryTable.Entry) throws(CacheError) -> EntryTable.Entry? = { $1 }
  /// Makes the page that a scan returns from the true one.
  package var page: @Sendable (ScanPage, ScanRequest) throws(CacheError) -> ScanPage = { page, _ in page }
  /// Makes the count from the true one.
  package var count: @Sendable (StoreCount) -> StoreCount = { $0 }
  /// Makes the issues that a check of the structure reports from the true ones.
  package var issues: @Sendable ([IntegrityIssue]) -> [IntegrityIssue] = { $0 }
  /// Makes the change count from the true one; `nil` for an engine that does not count its changes.
  package var changeCount: (@Sendable (UInt64?) -> UInt64?)?

  package init() {}
}

/// A layer that fails, waits and lies as a test says, and records its requests.
package final class FaultyEngine: WrappingEngine {
  private struct State {
    var faults: Faults
    var reads = 0
    var requests: [ScanRequest] = []
    var batches: [WriteBatch] = []
  }

  package let base: any StorageEngine
  private let state: Mutex<State>

  /// A layer over `base`.
  package init(over base: any StorageEngine, _ faults: Faults = Faults()) {
    self.base = base
    state = Mutex(State(faults: faults))
  }

  /// How the engine misbehaves from now on.
  package var faults: Faults {
    get { state.withLock { $0.faults } }
    set { state.withLock { $0.faults = newValue } }
  }

  /// The number of reads that were tried.
  package var reads: Int { state.withLock { $0.reads } }
  /// The scans that were tried.
  package var requests: [ScanRequest] { state.withLock { $0.requests } }
  /// The number of scans that were tried.
  package var scans: Int { requests.count }
  /// The batches that were tried.
  package var batches: [WriteBatch] { state.withLock { $0.batches } }

  private func calling<Output: Sendable>(
    _ call: EngineCall, _ body: (Faults) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let faults = state.withLock { state in
      switch call {
      case .read: state.reads += 1
      case .apply(let batch): state.batches.append(batch)
      case .scan(let request): state.requests.append(request)
      case .count, .check, .compact, .close: break
      }
      return state.faults
    }
    try await faults.before(call, base)
    let output = try await body(faults)
    try await faults.after(call, base)
    return output
  }

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    try await calling(.read(key)) { [base] faults throws(CacheError) -> Output? in
      let found = try await base.read(key) { bytes, metadata in
        EntryTable.Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      }
      guard let found, let entry = try faults.entry(key, found) else { return nil }
      return try body(entry.payload.span, entry.metadata)
    }
  }

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    try await calling(.apply(batch)) { [base] _ throws(CacheError) in try await base.apply(batch) }
  }

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    try await calling(.scan(request)) { [base] faults throws(CacheError) in
      try faults.page(try await base.scan(request), request)
    }
  }

  package func count() async throws(CacheError) -> StoreCount {
    try await calling(.count) { [base] faults throws(CacheError) in faults.count(try await base.count()) }
  }

  package func check() async throws(CacheError) -> [IntegrityIssue] {
    try await calling(.check) { [base] faults throws(CacheError) in faults.issues(try await base.check()) }
  }

  package func compact() async throws(CacheError) {
    try await calling(.compact) { [base] _ throws(CacheError) in try await base.compact() }
  }

  package func changeCount() throws(CacheError) -> UInt64? {
    let count = try base.changeCount()
    return faults.changeCount?(count)
  }

  package func close() async throws(CacheError) {
    try await calling(.close) { [base] _ throws(CacheError) in try await base.close() }
  }
}

/// Faults that several tests need.
extension FaultyEngine {
  /// Makes every read and batch fail with `error` from now on; `nil` ends that.
  package func breakDown(_ error: CacheError?) {
    faults.before = { call, _ throws(CacheError) in
      switch call {
      case .read, .apply: if let error { throw error }
      default: break
      }
    }
  }

  /// Calls `body` before each batch from now on.
  package func beforeBatches(_ body: @escaping @Sendable (any StorageEngine) async throws(CacheError) -> Void) {
    faults.before = { call, base throws(CacheError) in if case .apply = call { try await body(base) } }
  }

  /// Refuses the next `count` batches, as if another writer had been faster.
  package func refuse(_ count: Int) {
    let before = batches.count
    beforeBatches { [unowned self] _ throws(CacheError) in
      if batches.count - before <= count { throw CacheError(.conflict, "another writer was faster") }
    }
  }

  /// Applies `batch` just before the next batch, as a faster writer would.
  package func overtake(by batch: WriteBatch) {
    let first = batches.count + 1
    beforeBatches { [unowned self] base throws(CacheError) in if batches.count == first { try await base.apply(batch) }
    }
  }

  /// Cancels the calling task after `count` more batches.
  package func cancelCaller(after count: Int) {
    let last = batches.count + count
    faults.after = { [unowned self] call, _ throws(CacheError) in
      if case .apply = call, batches.count == last { withUnsafeCurrentTask { $0?.cancel() } }
    }
  }

  /// The entry that a read passes to its closure.
  package typealias Entry = (key: CacheKey, payload: [UInt8], metadata: EntryMetadata)

  /// Makes reads lend, and scans with payloads return, what `change` makes of an entry from now on.
  package func alter(_ change: @escaping @Sendable (Entry) -> Entry) {
    faults.page = { page, _ in
      let entries = page.entries.map { entry in
        guard let payload = entry.payload else { return entry }
        let altered = change((entry.key, payload, entry.metadata))
        return ScannedEntry(key: entry.key, metadata: altered.metadata, payload: altered.payload)
      }
      return ScanPage(entries, next: page.next)
    }
    faults.entry = { key, entry in
      let altered = change((key, entry.payload, entry.metadata))
      return EntryTable.Entry(payload: altered.payload, metadata: altered.metadata)
    }
  }
}
