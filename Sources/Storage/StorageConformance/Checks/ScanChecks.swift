internal import StorageSPI

/// What a scan visits, and in which order.
enum ScanChecks {
  static let all = [
    ConformanceCheck("scan-empty-store", "a scan of an empty store gives nothing", emptyStore),
    ConformanceCheck("scan-order", "a scan gives all keys in the order of their bytes, over all namespaces", order),
    ConformanceCheck(
      "scan-summaries", "a scan gives the metadata and the size of the payload of each entry", summaries),
    ConformanceCheck("scan-prefix", "a prefix selects exactly the keys that begin with it", prefix),
    ConformanceCheck("scan-after", "a scan begins behind the given key, whether or not there is such a key", after),
    ConformanceCheck("scan-prefix-and-after", "prefix and beginning hold both, in both directions", prefixAndAfter),
    ConformanceCheck(
      "scan-limit", "a scan gives the first entries, as many as allowed, or the last ones if it descends", limit),
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
    let after = try CacheKey("cities/a")
    try expectKeys(try await engine.scanAll(after: after), [], "a scan after a key")
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
      try expectKeys(try await engine.scanAll(prefix: prefix), expected, "prefix '\(prefix.prefix(60))'")
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
        let range = KeyRange(prefix: prefix, after: after, isDescending: true)
        let below = try await engine.scan(range, limit: .max)
        try expectKeys(
          below, keys.filter { range.contains($0) }.reversed(),
          "prefix '\(prefix.prefix(30))' backwards from \(after.abbreviated)")
      }
    }
  }

  private static func limit(_ context: ConformanceContext) async throws {
    let keys = try keys()
    let engine = try await filled(context, keys)
    for limit in [1, 2, keys.count - 1, keys.count, keys.count + 1, .max] {
      let got = try await engine.scan(KeyRange(), limit: limit)
      try expectKeys(got, Array(keys.prefix(limit)), "a scan with the limit \(limit)")
      let last = try await engine.scan(KeyRange(isDescending: true), limit: limit)
      try expectKeys(last, Array(keys.reversed().prefix(limit)), "a descending scan with the limit \(limit)")
    }
  }
}
