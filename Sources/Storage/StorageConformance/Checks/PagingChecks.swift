internal import StorageSPI

/// A scan that continues after the last key visits every entry once.
enum PagingChecks {
  static let all = [
    ConformanceCheck("paging-visits-all-once", "pages of any size together give every entry once", pages),
    ConformanceCheck("paging-long-keys", "pages may end among long keys that are alike", longKeys),
    ConformanceCheck("paging-while-removing", "entries removed between pages disturb no others", removing),
    ConformanceCheck("paging-while-adding", "entries added between pages disturb no others", adding),
  ]

  /// The keys on pages of `limit` entries; `change` runs after each page.
  private static func visit(
    _ engine: any StorageEngine, prefix: String = "", limit: Int, change: ([CacheKey]) async throws -> Void = { _ in }
  ) async throws -> [CacheKey] {
    var visited: [CacheKey] = []
    while true {
      let page = try await engine.scan(KeyRange(prefix: prefix, after: visited.last), limit: limit).map(\.key)
      try expect(page.count <= limit, "a page of at most \(limit) entries has \(page.count)")
      try expect(page.allSatisfy { key in visited.last.map { key > $0 } ?? true }, "a page repeats what was before it")
      visited += page
      guard page.count == limit else { return visited }
      try await change(page)
    }
  }

  private static func expectPages(_ context: ConformanceContext, _ keys: [CacheKey]) async throws {
    let engine = try await ScanChecks.filled(context, keys)
    for limit in [1, 2, 3, 7, keys.count] {
      for prefix in ["", "cities/", "movies/"] {
        let expected = keys.filter { $0.text.hasPrefix(prefix) }
        let got = try await visit(engine, prefix: prefix, limit: limit)
        try expect(
          got == expected, "pages of \(limit) with prefix '\(prefix)' give \(got.count) of \(expected.count) keys")
      }
    }
  }

  private static func pages(_ context: ConformanceContext) async throws {
    try await expectPages(context, try Sample.keys(20) + Sample.keys(15, namespace: "movies"))
  }

  private static func longKeys(_ context: ConformanceContext) async throws {
    let prefix = try Sample.key(length: 520).text
    let alike = try (0..<20).map { try CacheKey("\(prefix)/\(10 + $0)") }
    let nested = try (500..<515).map { try Sample.key(length: $0) }
    try await expectPages(context, (alike + nested).sorted())
  }

  private static func removing(_ context: ConformanceContext) async throws {
    let keys = try Sample.keys(30) + [Sample.key(length: 600), Sample.key(length: 601)]
    let engine = try await ScanChecks.filled(context, keys.sorted())
    let visited = try await visit(engine, limit: 4) { page in for key in page { try await engine.remove(key) } }
    try expect(
      visited == keys.sorted(), "pages give \(visited.count) of \(keys.count) keys when visited ones are removed")
  }

  private static func adding(_ context: ConformanceContext) async throws {
    let keys = try Sample.keys(30)
    let engine = try await ScanChecks.filled(context, keys)
    let visited = try await visit(engine, limit: 4) { page in
      guard let last = page.last, last.text.utf8.count < 20 else { return }
      try await engine.put(try CacheKey("\(last)/behind"), Sample.entry())
      try await engine.put(try CacheKey("a/before"), Sample.entry())
    }
    let old = visited.filter { keys.contains($0) }
    try expect(old == keys, "pages give \(old.count) of \(keys.count) keys when others are added")
    try expect(visited.count > keys.count, "pages give none of the keys that were added behind them")
  }
}
