internal import StorageSPI

/// Lists the entries of a store that may be damaged, page by page. Where a page cannot be read it narrows the damage
/// down and goes on behind it, as far as the interface of engines allows.
///
/// Behind an entry that the engine has named as unreadable it goes on at once. Behind any other damage it goes on with
/// the next entry of the namespace that was named so, and with the next namespace, which it finds by trying how namespaces
/// may begin: an engine that keeps them apart can still list the others.
struct DamagedStoreWalk {
  /// How many beginnings of namespaces are tried at most; some hundreds find all those of a store.
  private static let maximumTrials = 4_000

  private let engine: any StorageEngine
  private let pageSize: Int
  private let unreadable: [CacheKey]
  private let reported: Set<String>
  /// What is still to be listed, the next range last.
  private var pending = [KeyRange()]
  private var limit: Int
  private var trials = 0

  /// What could not be listed, for reasons that were not known before.
  private(set) var issues: [IntegrityIssue] = []
  /// The number of entries that were passed over because they are unreadable.
  private(set) var skipped = 0

  /// A walk over the store of `engine`, of which `known` was found out before.
  init(engine: any StorageEngine, pageSize: Int, known: [IntegrityIssue]) {
    self.engine = engine
    self.pageSize = pageSize
    unreadable = Set(known.compactMap(\.key)).sorted()
    reported = Set(known.map(\.message))
    limit = pageSize
  }

  /// The next entries; `nil` at the end.
  ///
  /// - Throws: `StorageError` where the store cannot be asked at all.
  mutating func next() async throws(StorageError) -> [EntrySummary]? {
    while let range = pending.popLast() {
      if Task.isCancelled { throw StorageError(.cancelled, "cancelled") }
      await engine.releaseMemory()
      do throws(StorageError) {
        let page = try await engine.scan(range, limit: limit)
        if page.count == limit { pending.append(KeyRange(prefix: range.prefix, after: page.last?.key)) }
        limit = pageSize
        if !page.isEmpty { return page }
      } catch {
        guard error.isOfData else { throw error }
        goOn(in: range, after: error)
      }
    }
    return nil
  }

  private mutating func goOn(in range: KeyRange, after error: StorageError) {
    if limit > 1 {
      limit = max(1, limit / 8)
      return pending.append(range)
    }
    limit = pageSize
    let key = unreadable.first { range.contains($0) }
    if let key, error.isAbout(key) {
      goOn(in: range, behind: key)
    } else if range.prefix.contains("/") || trials >= Self.maximumTrials {
      if !reported.contains(error.message) {
        issues.append(IntegrityIssue(kind: .structure, message: Self.text(range, error)))
      }
      if let key { goOn(in: range, behind: key) }
    } else {
      let parts = Self.parts(of: range)
      trials += parts.count
      pending += parts.reversed()
    }
  }

  private mutating func goOn(in range: KeyRange, behind key: CacheKey) {
    skipped += 1
    pending.append(KeyRange(prefix: range.prefix, after: key))
  }

  /// The parts of a range within namespaces, by the next character of the namespace.
  private static func parts(of range: KeyRange) -> [KeyRange] {
    let letters = "abcdefghijklmnopqrstuvwxyz"
    let characters = range.prefix.isEmpty ? letters : "/0123456789" + letters
    return characters.map { KeyRange(prefix: range.prefix + String($0), after: range.after) }.filter { part in
      guard let after = part.after?.text else { return true }
      return after < part.prefix || after.hasPrefix(part.prefix)
    }
  }

  private static func text(_ range: KeyRange, _ error: StorageError) -> String {
    let place = range.prefix.isEmpty ? "" : " of \(range.prefix)"
    let start = range.after.map { " after \($0)" } ?? ""
    return "the entries\(place)\(start) cannot be listed: \(error.message)"
  }
}
