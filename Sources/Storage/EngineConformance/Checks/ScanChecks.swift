internal import CacheBase
internal import EngineAPI

/// How the pages of a scan follow each other.
enum ScanChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("paging-by-bytes", "a page has 4 MiB of payloads at most, or one huge payload alone", byBytes),
    ConformanceCheck("paging-while-removing", "entries removed between pages disturb no others") { context in
      let engine = try await context.open()
      try await walk(context, engine) { page, _ in
        for entry in page.entries { try await engine.remove(entry.key) }
        return engine
      }
    },
    ConformanceCheck("paging-while-adding", "entries added between pages disturb no others") { context in
      let engine = try await context.open()
      let visited = try await walk(context, engine) { page, keys in
        if let last = page.entries.last?.key, keys.contains(last) {
          try await engine.put(try CacheKey("\(last)/behind"), try CacheKey("a/before"), entry: Sample.entry())
        }
        return engine
      }
      try expect(
        !context.has(.ordered) || visited.contains { $0.text.hasSuffix("/behind") },
        "pages give none of the keys that were added behind them")
    },
    ConformanceCheck(
      "paging-reopened", "a position is valid in an opened store, and without its entry", requires: [.persistent]
    ) { context in
      var engine = try await context.open()
      try await walk(context, engine) { page, _ in
        if let last = page.entries.last { try await engine.remove(last.key) }
        engine = try await context.reopen(engine)
        return engine
      }
    },
  ]

  private static func byBytes(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    let mebibyte = 1 << 20
    let sizes = [3 * mebibyte, mebibyte, 1, mebibyte, 0, 5 * mebibyte, 7, 4 * mebibyte, 4 * mebibyte, 2 * mebibyte]
    var entries: [CacheKey: Entry] = [:]
    for (key, size) in zip(try Sample.keys(sizes.count), sizes) {
      entries[key] = Sample.entry(size, size: size)
      try await engine.put(key, entry: Sample.entry(size, size: size))
    }
    for isDescending in context.directions {
      let request = ScanRequest(includesPayloads: true, isDescending: isDescending)
      let found = try await context.entries(of: engine, request)
      try expectEqual(found.count, entries.count, "the number of entries on pages with payloads")
      for entry in found {
        try expectEqual(
          entry.payload.map { Entry(payload: $0, metadata: entry.metadata) }, entries[entry.key], at: entry.key)
      }
    }
  }

  /// Stores entries, some under long keys that are alike, and walks through small pages of them in each direction. Throws a
  /// failure unless the walk visits each entry that is there from its beginning on.
  ///
  /// - Parameter change: changes the store after a page, and returns the engine for the rest of the scan.
  /// - Returns: the keys that were visited.
  @discardableResult
  private static func walk(
    _ context: ConformanceContext, _ engine: any StorageEngine,
    _ change: (ScanPage, Set<CacheKey>) async throws -> any StorageEngine
  ) async throws -> Set<CacheKey> {
    let keys =
      try Sample.keys(30) + Sample.keys(5, namespace: "movies") + (510..<514).map { try Sample.key(length: $0) }
    var engine = engine
    var all: Set<CacheKey> = []
    for isDescending in context.directions {
      try await engine.put(keys.map { ($0, Sample.entry()) })
      let request = ScanRequest(limit: 4, isDescending: isDescending)
      let visited = try await EngineConformance.walk(request, isOrdered: context.has(.ordered)) {
        let page = try await engine.scan($0)
        engine = try await change(page, Set(keys))
        return page
      }
      let missing = Set(keys).subtracting(visited.map(\.key)).sorted()
      all = all.union(visited.map(\.key))
      try expect(missing.isEmpty, "pages leave out \(missing.count) keys, \(missing.first?.abbreviated ?? "") first")
    }
    return all
  }
}

extension ConformanceContext {
  /// Forwards, and backwards if the engine can scan backwards.
  fileprivate var directions: [Bool] { has(.ordered) ? [false, true] : [false] }
}
