public import EngineAPI

/// Walks through the entries of a store, a page at a time.
///
/// Pages get smaller in front of damage, so that everything before it is returned.
struct StoreWalk {
  private let engine: any StorageEngine
  private let isOrdered: Bool
  private let pageSize: Int
  /// The next page; `nil` at the end.
  private var request: ScanRequest?
  /// The position at which the last page began.
  private(set) var start: String?

  /// A walk that begins with `request`; through no entries if that is `nil`.
  init(_ store: EntryStore, _ request: ScanRequest? = ScanRequest()) {
    self.init(store.engine, isOrdered: store.isOrdered, request)
  }

  /// The same of an engine, which is `ordered` if `isOrdered`.
  init(_ engine: any StorageEngine, isOrdered: Bool, _ request: ScanRequest? = ScanRequest()) {
    self.engine = engine
    self.isOrdered = isOrdered
    self.request = request
    pageSize = request?.limit ?? 1
  }

  /// The position at which the next page begins; `nil` at the end.
  var position: String? { request?.position }

  /// The next entries; `nil` at the end.
  ///
  /// - Parameter skips: called with an entry that cannot be read, and returns whether to continue behind it. An entry ends the
  ///   walk in any case if the engine does not name it, or is not `ordered` and does not say where to continue.
  /// - Throws: `CacheError`: the engine's failure, `damaged` among them; what `skips` throws; `cancelled`.
  mutating func next(
    skipping skips: (CacheKey, _ reason: String) throws(CacheError) -> Bool = { _, _ in false }
  ) async throws(CacheError) -> [ScannedEntry]? {
    if Task.isCancelled { throw .cancelled }
    while var request {
      var page: ScanPage
      do throws(CacheError) {
        page = try await engine.scan(request)
      } catch {
        guard error.isOfData else { throw error }
        if request.limit > 1 {
          request.limit = (request.limit + 9) / 10
        } else {
          guard let bad = error.cause as? UnreadableEntry, let next = isOrdered ? bad.key.text : bad.next,
            next != request.position, !isOrdered || request.contains(bad.key), try skips(bad.key, error.message)
          else { throw error }
          request.position = next
          request.limit = pageSize
        }
        self.request = request
        continue
      }
      // A damaged tree can lead back to an earlier position.
      if isOrdered, let position = request.position, let next = page.next,
        request.isDescending ? next >= position : next <= position
      {
        throw CacheError(.damaged, "the keys are not in order")
      }
      start = request.position
      request.position = page.next
      self.request = page.next == nil ? nil : request
      // A batch can change an entry once, and a page of an engine that is not ordered can have it twice.
      var keys: Set<CacheKey> = []
      if !isOrdered { page.entries.removeAll { !keys.insert($0.key).inserted } }
      if !page.entries.isEmpty { return page.entries }
    }
    return nil
  }
}

extension EntryStore {
  /// Passes the selected entries to `body` with their payloads, a page at a time, without leases and damaged entries.
  ///
  /// - Returns: the damaged entries.
  /// - Throws: `CacheError`: what `body` throws, the engine failed, the uses of entries cannot be read, or `cancelled`.
  func visitIntact(
    _ selection: EntrySelection = EntrySelection(), _ body: ([ExportedEntry]) async throws(CacheError) -> Void
  ) async throws(CacheError) -> KeySample {
    var damaged = KeySample()
    var walk = StoreWalk(self, selection.request(includesPayloads: true))
    func skip(_ key: CacheKey, _ reason: String) -> Bool {
      damaged.add(key)
      return true
    }
    while let page = try await walk.next(skipping: skip) {
      let now = clock.now
      let selected = page.filter { $0.key.namespace != Lease.namespace && selection.contains($0, at: now) }
      var entries: [ExportedEntry] = []
      for (entry, use) in zip(selected, try uses.histories(of: selected.map(\.key))) {
        if let intact = try? ExportedEntry(entry, use), intact.metadata.transformSteps != nil {
          entries.append(intact)
        } else {
          damaged.add(entry.key)
        }
      }
      try await body(entries)
    }
    return damaged
  }

  /// How much the store holds, without leases; `nil` if the engine is not `bounded`: then only a walk tells.
  ///
  /// - Throws: `CacheError`: the engine failed.
  public func count() async throws(CacheError) -> StoreCount? {
    isBounded ? try await engine.count().withoutLeases : nil
  }

  /// The entry under `key` without its payload, whether it is intact or not; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: the engine failed, or cannot decode the entry (`damaged`).
  func entry(_ key: CacheKey) async throws(CacheError) -> ScannedEntry? {
    try await engine.read(key) { bytes, metadata throws(CacheError) in
      ScannedEntry(key: key, metadata: metadata, payloadBytes: bytes.count)
    }
  }
}

extension StoreCount {
  /// The count for people: everything except the leases of requests.
  public var withoutLeases: StoreCount { without(Lease.namespace) }
}

extension CacheError {
  /// Whether the failure concerns the stored data and not the call, so that other entries might still be readable.
  package var isOfData: Bool { [.damaged, .unsupportedFormat, .ioFailed, .failed].contains(code) }

  /// The error for `work` that was cancelled, with the progress it made.
  ///
  /// - Parameter progress: for example `EntryProgress.text(12, "imported")`.
  static func interruption(of work: String, _ progress: String, hint: String) -> CacheError {
    CacheError(.cancelled, "\(work) was interrupted: \(progress)", hint: hint)
  }
}

/// Describes the progress of work on many entries.
enum EntryProgress {
  /// The progress as a phrase: "12 entries were imported", if `verb` is "imported".
  static func text(_ count: Int, _ verb: String) -> String {
    switch count {
    case 0: "no entry was \(verb)"
    case 1: "one entry was \(verb)"
    default: "\(count) entries were \(verb)"
    }
  }
}

/// A sample of any number of keys: their number, and the first ten.
public struct KeySample: Sendable, Hashable {
  private static let size = 10

  /// The number of keys.
  public private(set) var count = 0
  /// The first ten keys.
  public private(set) var first: [CacheKey] = []

  /// Creates an empty sample.
  public init() {}

  package mutating func add(_ key: CacheKey) {
    count += 1
    if first.count < Self.size { first.append(key) }
  }
}
