internal import EngineAPI

/// What a scan visits, in which order, and how its pages follow each other.
enum ScanChecks {
  static let all: [ConformanceCheck] = visited + pages

  private static let visited: [ConformanceCheck] = [
    ConformanceCheck("scan-empty-store", "a scan of an empty store gives nothing") { context in
      let engine = try await context.open()
      for prefix in ["", "cities/", "c"] {
        let page = try await engine.scan(ScanRequest(prefix: prefix))
        try expect(page.entries.isEmpty && page.next == nil, "a scan of an empty store gives \(page)")
      }
    },
    .script(
      "scan-entries",
      "a scan gives metadata and the size of the payload of each entry, and a copy of it if it is wanted",
      isRepeated: false,
      [
        .apply(Sample.mixedKeys.enumerated().map { .put($1, $0, size: $0 * 1_000) }),
        apply(.put("cities/a", 1), .put("cities/b", 2, size: 0), .put("movies/a", 3, size: 300_000)),
        apply(.update("cities/a", 4), .put("cities/b", 5)),
      ]),
    ConformanceCheck("scan-prefix", "a prefix selects exactly the keys that begin with it") { context in
      let (engine, keys) = try await filled(context)
      for prefix in prefixes {
        let got = try await context.entries(of: engine, ScanRequest(prefix: prefix)).map(\.key).sorted()
        let expected = keys.filter { $0.text.utf8.starts(with: prefix.utf8) }
        try expectEqual(got.map(\.abbreviated), expected.map(\.abbreviated), "a scan of '\(prefix.prefix(60))'")
      }
    },
    .script(
      "scan-order",
      "a page has the first keys, or last, in the order of their bytes, of a prefix and behind a position",
      requires: [.ordered], isRepeated: false,
      [.apply(Sample.mixedKeys.enumerated().map { .put($1, $0) }), .scans(requests)]),
  ]

  private static let pages: [ConformanceCheck] = [
    ConformanceCheck("paging-visits-all-once", "pages of any size together give every entry, once if ordered") {
      let keys = try Sample.keys(20) + Sample.keys(15, namespace: "movies")
      try await expectPages($0, keys)
    },
    ConformanceCheck("paging-long-keys", "pages may end among long keys that are alike") {
      let prefix = try Sample.key(length: 520).text
      let alike = try (0..<20).map { try CacheKey("\(prefix)/\(10 + $0)") }
      try await expectPages($0, try alike + (500..<515).map { try Sample.key(length: $0) })
    },
    ConformanceCheck("paging-by-bytes", "a page has 4 MiB of payloads at most, or one huge payload alone") { context in
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
    },
    ConformanceCheck("paging-while-removing", "entries removed between pages disturb no others") { context in
      let keys = try Sample.keys(30) + [Sample.key(length: 600), Sample.key(length: 601)]
      let engine = try await context.open()
      for isDescending in context.directions {
        try await engine.put(keys.map { ($0, Sample.entry()) })
        let visited = try await walk(
          ScanRequest(limit: 4, isDescending: isDescending), isOrdered: context.has(.ordered)
        ) {
          let page = try await engine.scan($0)
          for entry in page.entries { try await engine.remove(entry.key) }
          return page
        }
        try expectVisited(visited, keys, "pages whose entries are removed")
      }
    },
    ConformanceCheck("paging-while-adding", "entries added between pages disturb no others") { context in
      let keys = try Sample.keys(30)
      let engine = try await context.open()
      try await engine.put(keys.map { ($0, Sample.entry()) })
      let visited = try await walk(ScanRequest(limit: 4), isOrdered: context.has(.ordered)) {
        let page = try await engine.scan($0)
        if let last = page.entries.last?.key, keys.contains(last) {
          try await engine.put(try CacheKey("\(last)/behind"), try CacheKey("a/before"), entry: Sample.entry())
        }
        return page
      }
      try expectVisited(visited.filter { keys.contains($0.key) }, keys, "pages between which others are added")
      try expect(
        !context.has(.ordered) || visited.count > keys.count, "pages give none of the keys that were added behind them")
    },
    ConformanceCheck(
      "paging-reopened", "a position is valid in an opened store, and without its entry", requires: [.persistent]
    ) { context in
      let keys = try Sample.keys(20) + [Sample.key(length: 600), Sample.key(length: 601)]
      var engine = try await context.open()
      for isDescending in context.directions {
        try await engine.put(keys.map { ($0, Sample.entry()) })
        let visited = try await walk(
          ScanRequest(limit: 3, isDescending: isDescending), isOrdered: context.has(.ordered)
        ) {
          let page = try await engine.scan($0)
          if let last = page.entries.last { try await engine.remove(last.key) }
          engine = try await context.reopen(engine)
          return page
        }
        try expectVisited(visited, keys, "pages between which the store is opened again")
      }
    },
  ]

  private static let long = "cities/" + String(repeating: "k", count: 600)

  /// Prefixes that end before, at and after the slash, prefixes of long keys at every depth, of one key or none, and
  /// some that no key can have.
  private static let prefixes = [
    "", "c", "ci", "cities", "cities/", "cities2", "cities/v", "cities/v1/a", "cities/v1/a%", "cities/v1/a_",
    "cities/v1/aa", "cities/v1/A", "cities/v3", "m", "movies/", "movies/~", "n", "nothing/", "a", "/", "~", "%", "_",
    " ", "é", "CITIES/", "cities/\0", long, "\(long)/", "\(long)/1", "\(long)/10", "\(long)/100", "\(long)~~",
    String(long.prefix(300)), String(long.prefix(511)), String(long.prefix(512)), String(long.dropLast()),
    "movies/kkk",
  ]

  /// The keys of the store, and keys before, between and after them, including long ones.
  private static let positions: [String?] =
    Sample.mixedKeys + [
      "a/a", "zzz/~", "cities/!", "cities/~", "cities/v1/a0", "cities1/a", "\(long)/0", "\(long)/11", "\(long)!",
      "\(long)}", "\(long)kk", String(long.prefix(527)), "movies/\(long.dropFirst(7))",
    ]

  /// Requests for single pages, each of which must be that of a table with the same entries.
  private static var requests: [ScanRequest] {
    let count = Sample.mixedKeys.count
    let prefixes = ["", "cities/v1/", "cities", "m", "movies/", "none", long, "\(long)/1"]
    return [false, true].flatMap { isDescending in
      [1, 2, count - 1, count, count + 1, 1_000_000].map { ScanRequest(limit: $0, isDescending: isDescending) }
        + prefixes.flatMap { prefix in
          (positions + [nil]).map { ScanRequest(prefix: prefix, after: $0, isDescending: isDescending) }
        }
    }
  }

  private static func filled(_ context: ConformanceContext) async throws -> (any StorageEngine, [CacheKey]) {
    let engine = try await context.open()
    let keys = try Sample.mixedKeys.map { try CacheKey($0) }
    try await engine.put(keys.map { ($0, Sample.entry()) })
    return (engine, keys.sorted())
  }

  private static func expectPages(_ context: ConformanceContext, _ keys: [CacheKey]) async throws {
    let engine = try await context.open()
    try await engine.put(keys.map { ($0, Sample.entry()) })
    for limit in [1, 2, 3, 7, keys.count] {
      for prefix in ["", "cities/", "movies/"] {
        for isDescending in context.directions {
          let request = ScanRequest(prefix: prefix, limit: limit, isDescending: isDescending)
          try expectVisited(
            try await context.entries(of: engine, request), keys.filter { $0.text.hasPrefix(prefix) },
            "pages of \(limit) of '\(prefix)'")
        }
      }
    }
  }

  /// Throws a failure unless `visited` has exactly `keys`.
  private static func expectVisited(_ visited: [ScannedEntry], _ keys: [CacheKey], _ what: String) throws {
    let missing = Set(keys).subtracting(visited.map(\.key)).sorted()
    try expect(
      missing.isEmpty && visited.count == keys.count,
      "\(what) give \(visited.count) of \(keys.count) keys, without \(missing.first?.abbreviated ?? "any missing")")
  }
}

extension ConformanceContext {
  /// Forwards, and backwards if the engine can scan backwards.
  fileprivate var directions: [Bool] { has(.ordered) ? [false, true] : [false] }
}
