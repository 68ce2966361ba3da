internal import FetchVocabulary
internal import StorageSPI

/// Lists the entries of a store, sorted by key, page by page, and continues past damage.
///
/// If a page cannot be read, smaller and smaller pages find the first entry that cannot be listed. If the engine names
/// that entry as unreadable, the walk continues right after it. After any other damage it tries the namespaces one by
/// one, which it finds by the possible beginnings of their names, and in each namespace searches for the next entry
/// that can be listed.
struct StoreWalk {
  /// The most entries in a page.
  static let pageSize = 1_000
  /// How many beginnings of namespaces, and how many places behind damage, to try at most, so that the walk ends for
  /// any amount of damage.
  private static let (maximumParts, maximumProbes) = (4_000, 20_000)

  private let engine: any StorageEngine
  private let passable: Set<CacheError.Code>
  /// The keys of the entries that the engine names as unreadable; `nil` until it has been asked.
  private var unreadable: [CacheKey]?
  /// What a check has already reported; `nil` if there was none.
  private let reported: Set<String>?
  /// The error of the previous gap, until something is listed again: the same error then belongs to the same gap.
  private var gapMessage: String?
  /// The ranges still to be listed; the next one is last.
  private var pending: [KeyRange]
  private var limit: Int
  /// The entry at the end of a gap, still to be listed.
  private var behindGap: EntrySummary?
  private var (parts, probes) = (0, 0)
  private let pageSize: Int

  /// The entries that the walk skipped because the engine names them as unreadable.
  private(set) var unreadableEntries = KeySample()
  /// Other places that could not be listed, and were not reported before.
  private(set) var gaps: [IntegrityIssue] = []

  /// Creates a walk through `range`.
  ///
  /// - Parameter unreadable: the entries known to be unreadable; `nil` to ask the engine, which then checks the whole store.
  init(
    engine: any StorageEngine, _ range: KeyRange = KeyRange(), unreadable: [CacheKey]? = nil, pageSize: Int = pageSize
  ) {
    (self.engine, self.pageSize, limit) = (engine, pageSize, pageSize)
    (pending, reported, passable) = ([range], nil, [.damaged, .unsupportedFormat])
    self.unreadable = unreadable
  }

  /// Creates a walk through the whole store that continues past any failure of the stored data. It reports only what is
  /// not in `known`, the issues that a check has found.
  init(engine: any StorageEngine, known: [IntegrityIssue], pageSize: Int = pageSize) {
    (self.engine, self.pageSize, limit) = (engine, pageSize, pageSize)
    (pending, reported, passable) = ([KeyRange()], Set(known.map(\.message)), CacheError.codesOfData)
    unreadable = Set(known.compactMap(\.key)).sorted()
  }

  /// The next entries; `nil` at the end.
  ///
  /// - Throws: `CacheError` if the store does not respond at all; `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    while let range = pending.popLast() {
      if Task.isCancelled { throw .cancelled }
      do throws(CacheError) {
        let page = try await engine.scan(range, limit: limit)
        if page.count == limit { pending.append(KeyRange(prefix: range.prefix, after: page.last?.key)) }
        limit = pageSize
        if page.isEmpty { continue }
        gapMessage = nil
        return page
      } catch {
        guard passable.contains(error.code) else { throw error }
        try await goOn(in: range, after: error)
        if let entry = behindGap.take() {
          gapMessage = nil
          return [entry]
        }
      }
    }
    return nil
  }

  private mutating func goOn(in range: KeyRange, after error: CacheError) async throws(CacheError) {
    if limit > 1 {
      limit = max(1, limit / 8)
      return pending.append(range)
    }
    limit = pageSize
    if let entry = try await unreadableEntry(in: range, error) {
      unreadableEntries.add(entry)
      pending.append(KeyRange(prefix: range.prefix, after: entry))
    } else if let rest = try await rest(of: range) {
      report(range, nil, error)
      pending.append(rest)
    } else if !range.prefix.contains("/"), parts < Self.maximumParts {
      let divided = Self.parts(of: range)
      parts += divided.count
      pending += divided.reversed()
    } else {
      try await passGap(in: range, error)
    }
  }

  /// The part of `range`, several namespaces, behind the first possible key; `nil` if it cannot be listed either. An engine
  /// that knows only that something is missing fails at the beginning of a range alone.
  private mutating func rest(of range: KeyRange) async throws(CacheError) -> KeyRange? {
    guard range.after == nil, !range.prefix.contains("/"),
      let first = try? CacheKey((range.prefix.isEmpty ? "a" : range.prefix) + "/!")
    else { return nil }
    let rest = KeyRange(prefix: range.prefix, after: first)
    do throws(CacheError) {
      _ = try await engine.scan(rest, limit: 1)
      return rest
    } catch {
      guard passable.contains(error.code) else { throw error }
      return nil
    }
  }

  /// The entry in `range` that the engine names as unreadable and that the error is about. Continuing after any other
  /// one would silently skip all entries before it.
  private mutating func unreadableEntry(
    in range: KeyRange, _ error: CacheError
  ) async throws(CacheError) -> CacheKey? {
    try await unreadableKeys().first { range.contains($0) && error.isAbout($0) }
  }

  /// The keys of the unreadable entries.
  private mutating func unreadableKeys() async throws(CacheError) -> [CacheKey] {
    if let unreadable { return unreadable }
    var keys: [CacheKey] = []
    do throws(CacheError) {
      keys = Set(try await engine.checkIntegrity().compactMap(\.key)).sorted()
    } catch {
      guard error.isOfData else { throw error }
    }
    unreadable = keys
    return keys
  }

  /// Continues with the next entry that can be listed behind the place that the error is about.
  private mutating func passGap(in range: KeyRange, _ error: CacheError) async throws(CacheError) {
    var (gap, end) = (KeyGap(of: range), CacheKey?.none)
    while probes < Self.maximumProbes, let probe = gap.probe {
      if Task.isCancelled { throw .cancelled }
      probes += 1
      let rest = KeyRange(prefix: range.prefix, after: probe)
      do throws(CacheError) {
        end = try await engine.scan(rest, limit: 1).first?.key
        gap.noteReadable(after: probe)
      } catch {
        guard passable.contains(error.code) else { throw error }
        if let entry = try await unreadableEntry(in: rest, error) {
          gap.noteReadable(after: probe)
          end = entry
        } else {
          gap.noteUnreadable(after: probe)
        }
      }
    }
    if let next = gap.end {
      pending.append(KeyRange(prefix: range.prefix, after: next))
      behindGap = try await entry(next, in: range)
    }
    report(range, behindGap?.key ?? end, error)
  }

  /// The entry under `key`, the end of a gap in `range`; `nil` if there is none. The end can itself be a key, such as the
  /// first one on the next page of a tree, which a scan after it would skip.
  private mutating func entry(_ key: CacheKey, in range: KeyRange) async throws(CacheError) -> EntrySummary? {
    do throws(CacheError) {
      let found = range.contains(key) ? try await engine.scan(KeyRange(prefix: key.text), limit: 1).first : nil
      return found?.key == key ? found : nil
    } catch {
      guard passable.contains(error.code) else { throw error }
      return nil
    }
  }

  private mutating func report(_ range: KeyRange, _ end: CacheKey?, _ error: CacheError) {
    defer { gapMessage = error.message }
    guard gapMessage != error.message, reported?.contains(error.message) != true else { return }
    gaps.append(IntegrityIssue(kind: .structure, message: Self.text(range, end, error)))
  }

  /// Splits a range into parts by the next character of the namespace.
  private static func parts(of range: KeyRange) -> [KeyRange] {
    let letters = "abcdefghijklmnopqrstuvwxyz"
    let characters = range.prefix.isEmpty ? letters : "/0123456789" + letters
    return characters.map { KeyRange(prefix: range.prefix + String($0), after: range.after) }.filter { part in
      guard let after = part.after?.text else { return true }
      return after < part.prefix || after.hasPrefix(part.prefix)
    }
  }

  private static func text(_ range: KeyRange, _ end: CacheKey?, _ error: CacheError) -> String {
    let place = range.prefix.isEmpty ? "" : " of \(range.prefix)"
    let start = range.after.map { " after \($0)" } ?? ""
    let limit = end.map { " before \($0)" } ?? ""
    return "the entries\(place)\(start)\(limit) cannot be listed: \(error.message)"
  }
}

extension CacheError {
  /// The kinds of failure that concern the stored data rather than the way it was requested.
  static let codesOfData: Set<Code> = [.damaged, .unsupportedFormat, .ioFailed, .failed]

  /// Whether the failure concerns the stored data, so that other entries may still be readable.
  var isOfData: Bool { Self.codesOfData.contains(code) }

  /// Whether this error, which ended a listing, is about the entry under `key`: its message must name the key.
  /// Otherwise it may be about an earlier entry whose key cannot even be read, so that no check can name it.
  ///
  /// The key must be a whole word: "entry movies/10 cannot be read" does not name `movies/1`. Colons, commas and
  /// quotation marks around it belong to the message.
  func isAbout(_ key: CacheKey) -> Bool {
    message.split(separator: " ").contains { word in
      word.drop(while: Self.isPunctuation).hasPrefix(key.text)
        && word.drop(while: Self.isPunctuation).dropFirst(key.text.count).allSatisfy(Self.isPunctuation)
    }
  }

  private static func isPunctuation(_ character: Character) -> Bool { ":,;.'\"()".contains(character) }
}

/// Walks through the selected entries of a store, sorted by key, page by page, and past damage.
struct EntryWalk {
  private let store: EntryStore
  private let selection: EntrySelection
  private let includesLeases: Bool
  private var walk: StoreWalk?

  /// Creates a walk through the entries of `store` after `cursor` that `selection` selects.
  ///
  /// - Parameters:
  ///   - includesLeases: whether to list leases of flights like other entries, if their namespace is selected.
  init(
    _ store: EntryStore, _ selection: EntrySelection = EntrySelection(), after cursor: CacheKey? = nil,
    includesLeases: Bool = false
  ) {
    (self.store, self.selection, self.includesLeases) = (store, selection, includesLeases)
    walk = selection.keyPrefix.map {
      StoreWalk(engine: store.engine, KeyRange(prefix: $0, after: cursor))
    }
  }

  /// What could not be listed so far.
  var damage: StoreDamage { store.damage + (walk.map { StoreDamage($0) } ?? StoreDamage()) }

  /// The next entries; `nil` at the end.
  ///
  /// - Throws: `CacheError`: the engine failed; `cancelled`.
  mutating func next() async throws(CacheError) -> [EntrySummary]? {
    while let page = try await walk?.next() {
      await store.engine.releaseMemory()
      let now = store.clock.now
      let selected = page.filter {
        (includesLeases || $0.key.namespace != Lease.namespace) && selection.contains($0, at: now)
      }
      if !selected.isEmpty { return selected }
    }
    return nil
  }
}
