internal import EngineSupport
internal import StorageSPI

/// What a scan visits, and in which order.
enum ScanChecks {
  static let all = [
    ConformanceCheck("scan-empty-store", "a scan of an empty store gives nothing", emptyStore),
    ConformanceCheck("scan-order", "a scan gives all keys in the order of their bytes, over all namespaces", requires: [.ordered], order),
    ConformanceCheck(
      "scan-summaries", "a scan gives the metadata and the size of the payload of each entry", summaries),
    ConformanceCheck("scan-prefix", "a prefix selects exactly the keys that begin with it", prefix),
    ConformanceCheck("scan-after", "a scan begins behind the given key, whether or not there is such a key", requires: [.ordered],
      after),
    ConformanceCheck("scan-prefix-and-after", "prefix and beginning hold both, in both directions", requires: [.ordered],
      prefixAndAfter),
    ConformanceCheck(
      "scan-limit", "a scan gives the first entries, as many as allowed, or the last ones if it descends",
      requires: [.ordered], limit),
  ]

  /// Keys of three namespaces, including long ones with longer common prefixes than engines keep in an index.
  static func keys() throws -> [CacheKey] {
    let long = String(repeating: "k", count: 600)
    let texts = [
      "cinemas/x", "cities/v1/a", "cities/v1/a%", "cities/v1/aa", "cities/v1/ab", "cities/v1/a_", "cities/v1/B",
      "cities/v1/b", "cities/v2/a", "cities/\(long)", "cities/\(long)/1", "cities/\(long)/10", "cities/\(long)/2",
      "cities/\(long)~", "cities/\(long.dropLast())", "cities2/a", "movies/a", "movies/\(long)/1", "movies/~", "m/a",
    ]
    return try texts.map { try CacheKey($0) }.sorted()
  }

  /// Opens a store with an entry under each of `keys`, not written in key order.
  static func filled(_ context: ConformanceContext, _ keys: [CacheKey]) async throws -> any StorageEngine {
    let engine = try await context.open()
    var generator = context.generator()
    for key in keys.shuffled(using: &generator) { try await engine.put(key, Sample.entry()) }
    return engine
  }

  private static func emptyStore(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    for prefix in ["", "cities/", "c"] { try expectKeys(try await engine.scanAll(prefix: prefix), [], "a scan") }
  }

  private static func order(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    try expectKeys(try await engine.scanAll(), keys, "a scan of everything")
  }

  private static func summaries(_ context: ConformanceContext) async throws {
    let engine = try await context.open()
    var entries: [CacheKey: Entry] = [:]
    for (number, key) in try keys().enumerated() {
      var metadata = Sample.metadata(checksum: .max - UInt64(number))
      metadata.attributes["number"] = "\(number)"
      metadata.contentType = "text/\(number)"
      entries[key] = Entry(payload: .init(repeating: 0, count: number * 1_000), metadata: metadata)
    }
    try await engine.put(entries.map { ($0.key, $0.value) })
    try await engine.expectHolds(entries)
  }

  private static func prefix(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    for prefix in try prefixes() {
      let expected = keys.filter { $0.text.utf8.starts(with: prefix.utf8) }
      let found = try await engine.scanAll(prefix: prefix).sorted { $0.key < $1.key }
      try expectKeys(found, expected, "prefix '\(prefix.prefix(60))'")
    }
  }

  /// Prefixes that end before, at and after the slash, prefixes of long keys at every depth, of one key or none, and
  /// some that no key can have.
  private static func prefixes() throws -> [String] {
    let long = "cities/" + String(repeating: "k", count: 600)
    return [
      "", "c", "ci", "cities", "cities/", "cities2", "cities/v", "cities/v1/a", "cities/v1/a%", "cities/v1/a_",
      "cities/v1/aa", "cities/v1/A", "cities/v3", "m", "movies/", "movies/~", "n", "nothing/", "a", "/", "~", "%", "_",
      " ", "é", "CITIES/", "cities/\0", long, "\(long)/", "\(long)/1", "\(long)/10", "\(long)/100", "\(long)~~",
      String(long.prefix(300)), String(long.prefix(511)), String(long.prefix(512)), String(long.dropLast()),
      "movies/kkk",
    ]
  }

  private static func after(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    for after in try keys + absentKeys() {
      let expected = keys.filter { $0 > after }
      try expectKeys(try await engine.scanAll(after: after), expected, "after \(after.abbreviated)")
    }
  }

  /// Keys before, between and after those of the store, including long ones.
  private static func absentKeys() throws -> [CacheKey] {
    let long = String(repeating: "k", count: 600)
    let texts = [
      "a/a", "zzz/~", "cities/!", "cities/~", "cities/v1/a0", "cities1/a", "cities/\(long)/0", "cities/\(long)/11",
      "cities/\(long)!", "cities/\(long)}", "cities/\(long)kk", "cities/\(long.prefix(520))", "movies/\(long)",
    ]
    return try texts.map { try CacheKey($0) }
  }

  private static func prefixAndAfter(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    let long = "cities/" + String(repeating: "k", count: 600)
    for prefix in ["cities/v1/", "cities", "m", "movies/", long, "\(long)/1", "none"] {
      for after in try keys + absentKeys() {
        let expected = keys.filter { $0 > after && $0.text.utf8.starts(with: prefix.utf8) }
        let got = try await engine.scanAll(prefix: prefix, after: after)
        try expectKeys(got, expected, "prefix '\(prefix.prefix(30))' after \(after.abbreviated)")
        let range = ScanRequest(prefix: prefix, after: after.text, isDescending: true)
        let below = try await engine.scan(range).entries
        try expectKeys(
          below, keys.filter { range.contains($0) }.reversed(),
          "prefix '\(prefix.prefix(30))' backwards from \(after.abbreviated)")
      }
    }
  }

  private static func limit(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    for limit in [1, 2, keys.count - 1, keys.count, keys.count + 1, 1_000_000] {
      let got = try await engine.scan(ScanRequest(limit: limit)).entries
      try expectKeys(got, Array(keys.prefix(limit)), "a scan with the limit \(limit)")
      let last = try await engine.scan(ScanRequest(limit: limit, isDescending: true)).entries
      try expectKeys(last, Array(keys.reversed().prefix(limit)), "a descending scan with the limit \(limit)")
    }
  }
}

/// A scan that continues after the last key visits every entry once.
enum PagingChecks {
  static let all = [
    ConformanceCheck("paging-visits-all-once", "pages of any size together give every entry once", pages),
    ConformanceCheck("paging-long-keys", "pages may end among long keys that are alike", longKeys),
    ConformanceCheck("paging-while-removing", "entries removed between pages disturb no others", removing),
    ConformanceCheck("paging-while-adding", "entries added between pages disturb no others", adding),
  ]

  /// The keys on pages of `limit` entries; `change` runs after each page. Of an engine that is not `ordered` each key once,
  /// in order.
  private static func visit(
    _ context: ConformanceContext, _ engine: any StorageEngine, prefix: String = "", limit: Int,
    isDescending: Bool = false, change: ([CacheKey]) async throws -> Void = { _ in }
  ) async throws -> [CacheKey] {
    let isOrdered = context.subject.capabilities.contains(.ordered)
    var request = ScanRequest(prefix: prefix, limit: limit, isDescending: isDescending)
    var visited: [CacheKey] = []
    while true {
      let page = try await engine.scan(request)
      let keys = page.entries.map(\.key)
      if isOrdered {
        try expect(keys.count <= limit, "a page of at most \(limit) entries has \(keys.count)")
        try expect(keys.allSatisfy { request.contains($0) }, "a page repeats what was before it")
        try expect(!keys.isEmpty || request.position == nil, "a page says that more follows, and nothing does")
      }
      visited += keys
      request.position = page.next
      guard page.next != nil else { break }
      try await change(keys)
    }
    return isOrdered ? visited : Set(visited).sorted()
  }

  private static func expectPages(_ context: ConformanceContext, _ keys: [CacheKey]) async throws {
    let engine = try await ScanChecks.filled(context, keys)
    for limit in [1, 2, 3, 7, keys.count] {
      for prefix in ["", "cities/", "movies/"] {
        let expected = keys.filter { $0.text.hasPrefix(prefix) }
        let got = try await visit(context, engine, prefix: prefix, limit: limit)
        try expect(
          got == expected, "pages of \(limit) with prefix '\(prefix)' give \(got.count) of \(expected.count) keys")
        guard context.subject.capabilities.contains(.ordered) else { continue }
        let back = try await visit(context, engine, prefix: prefix, limit: limit, isDescending: true)
        try expect(
          back == expected.reversed(),
          "descending pages of \(limit) with prefix '\(prefix)' give \(back.count) of \(expected.count) keys")
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
    for isDescending in context.subject.capabilities.contains(.ordered) ? [false, true] : [false] {
      try await engine.put(keys.map { ($0, Sample.entry()) })
      let visited = try await visit(context, engine, limit: 4, isDescending: isDescending) { page in
        for key in page { try await engine.remove(key) }
      }
      try expect(
        visited == keys.sorted { isDescending ? $0 > $1 : $0 < $1 },
        "pages give \(visited.count) of \(keys.count) keys when visited ones are removed")
    }
  }

  private static func adding(_ context: ConformanceContext) async throws {
    let keys = try Sample.keys(30)
    let engine = try await ScanChecks.filled(context, keys)
    let visited = try await visit(context, engine, limit: 4) { page in
      guard let last = page.last, last.text.utf8.count < 20 else { return }
      try await engine.put(try CacheKey("\(last)/behind"), Sample.entry())
      try await engine.put(try CacheKey("a/before"), Sample.entry())
    }
    let old = visited.filter { keys.contains($0) }
    try expect(old == keys, "pages give \(old.count) of \(keys.count) keys when others are added")
    guard context.subject.capabilities.contains(.ordered) else { return }
    try expect(visited.count > keys.count, "pages give none of the keys that were added behind them")
  }
}
