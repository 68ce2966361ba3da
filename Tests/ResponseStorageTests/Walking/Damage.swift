import StorageSPI
import TestStorage

/// Entries that an engine cannot read, as on a damaged medium, and what the damage looks like.
struct Damage: Sendable {
  /// Keys of unreadable entries.
  var entries: Set<CacheKey> = []
  /// Keys of entries that are listed, but not found by key.
  var hidden: Set<CacheKey> = []
  /// Keys of entries that are listed under other keys, and found under neither.
  var garbled: [CacheKey: CacheKey] = [:]
  /// Whether the unreadable entries can be listed.
  var isListed = false
  /// Whether the check of the structure names them.
  var isNamed = true
  /// Prefixes under which no key can be listed, as with one damaged file per namespace.
  var prefixes: [String] = []
  /// Listed entries that are not found.
  var phantoms: [EntrySummary] = []
  /// The error code of a read that meets damage.
  var code = CacheError.Code.damaged
  /// The error of every call that reads.
  var failure: CacheError?

  /// The damage as the faults of an engine.
  var faults: Faults {
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in try check(call) }
    faults.entry = { key, entry in hidden.contains(key) || garbled[key] != nil ? nil : entry }
    faults.page = { page, range, limit throws(CacheError) in try list(page, range, limit) }
    faults.issues = { _ in
      (isNamed ? entries.sorted() : []).map {
        IntegrityIssue(key: $0, kind: .undecodable, message: "cannot be decoded")
      } + prefixes.map { IntegrityIssue(kind: .structure, message: "the file of \($0) is damaged") }
    }
    return faults
  }

  private func check(_ call: EngineCall) throws(CacheError) {
    switch call {
    case .apply, .compact, .close: return
    case .read, .scan, .statistics, .checkIntegrity: if let failure { throw failure }
    }
    if case .read(let key) = call, entries.contains(key) { throw CacheError(code, "entry \(key) cannot be read") }
    if case .statistics = call, !prefixes.isEmpty { throw CacheError(code, "it cannot be counted") }
    guard case .scan(let range) = call else { return }
    for prefix in prefixes where prefix.hasPrefix(range.prefix) || range.prefix.hasPrefix(prefix) {
      if let after = range.after?.text, after > prefix + "\u{7F}" { continue }
      throw CacheError(code, "the file of \(prefix) is damaged")
    }
  }

  private func list(
    _ found: [EntrySummary], _ range: KeyRange, _ limit: Int
  ) throws(CacheError) -> [EntrySummary] {
    let page = (found + phantoms.filter { range.contains($0.key) })
      .sorted { range.isDescending ? $0.key > $1.key : $0.key < $1.key }.prefix(limit)
    if !isListed, let bad = page.first(where: { entries.contains($0.key) }) {
      throw CacheError(code, "entry \(bad.key) cannot be listed")
    }
    return page.map { entry in
      EntrySummary(key: garbled[entry.key] ?? entry.key, metadata: entry.metadata, payloadBytes: entry.payloadBytes)
    }
  }
}

extension FaultyEngine {
  /// An engine in front of `base` that meets `damage`.
  convenience init(over base: any StorageEngine, _ damage: Damage) { self.init(over: base, damage.faults) }
}
