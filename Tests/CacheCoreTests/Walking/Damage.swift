import EngineAPI
import TestStorage

/// Entries that an engine cannot read, as on a damaged medium, and the symptoms of the damage.
struct Damage: Sendable {
  /// Keys of unreadable entries.
  var entries: Set<CacheKey> = []
  /// Whether only their payloads cannot be read, so that a scan without payloads lists them.
  var isListed = false
  /// Whether the check of the structure names them, and a scan that meets one.
  var isNamed = true
  /// Where a scan that meets an unreadable entry says that it can continue.
  var position: @Sendable (CacheKey) -> String? = { _ in nil }
  /// Prefixes under which no key can be listed, as with one damaged file per namespace.
  var prefixes: [String] = []
  /// The error code of a read that meets damage.
  var code = CacheError.Code.damaged
  /// The error of every call that reads.
  var failure: CacheError?

  /// The damage as the faults of an engine.
  var faults: Faults {
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in try check(call) }
    faults.page = { page, request throws(CacheError) in
      if !isListed || request.includesPayloads, let bad = page.entries.first(where: { entries.contains($0.key) }) {
        let cause = isNamed ? UnreadableEntry(bad.key, next: position(bad.key)) : nil
        throw CacheError(code, "entry \(bad.key) cannot be read", cause: cause)
      }
      return page
    }
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
    case .read, .scan, .count, .check: if let failure { throw failure }
    }
    if case .read(let key) = call, entries.contains(key) { throw CacheError(code, "entry \(key) cannot be read") }
    if case .count = call, !prefixes.isEmpty { throw CacheError(code, "it cannot be counted") }
    guard case .scan(let request) = call else { return }
    for prefix in prefixes where prefix.hasPrefix(request.prefix) || request.prefix.hasPrefix(prefix) {
      if let position = request.position, position > prefix + "\u{7F}" { continue }
      throw CacheError(code, "the file of \(prefix) is damaged")
    }
  }
}

extension FaultyEngine {
  /// An engine in front of `base` that meets `damage`.
  convenience init(over base: any StorageEngine, _ damage: Damage) { self.init(over: base, damage.faults) }
}
