internal import EngineAPI

/// Throws a failure with `message` unless `condition` holds.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure(message()) }
}

/// Throws a failure about `what` unless `got` equals `expected`.
func expectEqual<Value: Equatable>(_ got: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
  guard got == expected else { throw ConformanceFailure("\(what()): expected \(expected), got \(got)") }
}

/// Throws a failure unless `body` throws an error with the code `code`.
func expectError(
  _ code: CacheError.Code, _ what: @autoclosure () -> String, _ body: () async throws -> Void
) async throws {
  do {
    try await body()
  } catch let error as CacheError {
    return try expectEqual(error.code.rawValue, code.rawValue, "\(what()): the error \(error.description)")
  }
  throw ConformanceFailure("\(what()): expected the error \(code.rawValue), got none")
}

/// Throws a failure unless `got` equals `expected`, byte by byte and field by field.
func expectEqual(_ got: Entry?, _ expected: Entry?, at key: CacheKey) throws {
  guard let expected else {
    return try expect(
      got == nil, "\(key.abbreviated): expected no entry, got one with \(got?.payload.count ?? 0) bytes")
  }
  guard let got else { throw ConformanceFailure("\(key.abbreviated): expected an entry, got nil") }
  // Bytes are compared as memory, which is fast even in a build without optimization.
  let count = expected.payload.count
  if got.payload.count != count || memcmp(got.payload, expected.payload, count) != 0 {
    var (offset, differing) = (0, min(got.payload.count, count) + 1)
    while differing - offset > 1 {
      let middle = (offset + differing) / 2
      if memcmp(got.payload, expected.payload, middle) == 0 { offset = middle } else { differing = middle }
    }
    throw ConformanceFailure(
      "\(key.abbreviated): expected a payload of \(count) bytes, got \(got.payload.count); they differ at offset \(offset)"
    )
  }
  let (gotFields, expectedFields) = (got.metadata.fields, expected.metadata.fields)
  for name in Set(gotFields.keys).union(expectedFields.keys).sorted() where gotFields[name] != expectedFields[name] {
    func text(_ field: [UInt64]?) -> String { field.map { "\($0)" } ?? "nothing" }
    throw ConformanceFailure(
      "\(key.abbreviated): \(name.prefix(80).debugDescription): expected \(text(expectedFields[name])), "
        + "got \(text(gotFields[name]))")
  }
}

extension EntryMetadata {
  /// The fields by name. A text is the hash and the number of its bytes: `==` treats a composed and a decomposed letter as
  /// equal.
  fileprivate var fields: [String: [UInt64]] {
    func bytes(_ text: String) -> [UInt64] { [FNV1a.hash(text.utf8), UInt64(text.utf8.count)] }
    var fields = [
      "storedAt": [UInt64(storedAt.milliseconds)], "freshUntil": [UInt64(freshUntil.milliseconds)],
      "retainUntil": [UInt64(retainUntil.milliseconds)], "payloadChecksum": [payloadChecksum], "checksum": [checksum],
      "contentType": bytes(contentType),
    ]
    for (name, value) in attributes {
      fields["attribute " + name] = bytes(name) + bytes(value)
    }
    return fields
  }
}

/// The entries on all pages of a scan that begins with `request`; `scan` returns the page of a request.
///
/// Throws a failure if a page breaks a rule: its limits, its order, its prefix, and that something follows if it says so.
/// Without `isOrdered` an entry can come twice, and is returned once.
func walk(
  _ request: ScanRequest, isOrdered: Bool, _ scan: (ScanRequest) async throws -> ScanPage
) async throws -> [ScannedEntry] {
  var (request, found, seen) = (request, [ScannedEntry](), Set<CacheKey>())
  for _ in 0..<10_000 {
    let page = try await scan(request)
    try expect(
      page.entries.count <= request.limit, "a page of at most \(request.limit) has \(page.entries.count) entries")
    let bytes = page.entries.reduce(0) { $0 + $1.payloadBytes }
    try expect(
      !request.includesPayloads || page.entries.count <= 1 || bytes <= ScanRequest.maximumPayloadBytes,
      "a page has \(page.entries.count) payloads of together \(bytes) bytes")
    for entry in page.entries {
      let name = entry.key.abbreviated
      try expect(entry.key.text.hasPrefix(request.prefix), "a scan of '\(request.prefix.prefix(60))' gives \(name)")
      try expect(
        (entry.payload != nil) == request.includesPayloads, "a page has payloads that were not wanted, or none")
      if isOrdered {
        let isNext = found.last.map { request.isDescending ? entry.key < $0.key : entry.key > $0.key } ?? true
        try expect(isNext, "a scan gives \(name) after \(found.last?.key.abbreviated ?? "")")
      }
      if seen.insert(entry.key).inserted { found.append(entry) }
    }
    try expect(
      !isOrdered || !page.entries.isEmpty || request.position == nil, "a page says that more follows, but nothing does")
    guard let next = page.next else { return found }
    request.position = next
  }
  throw ConformanceFailure("a scan does not end")
}

extension ConformanceContext {
  /// All entries of a store; in order if the engine is `ordered`.
  func entries(of engine: any StorageEngine, _ request: ScanRequest = ScanRequest()) async throws -> [ScannedEntry] {
    try await walk(request, isOrdered: has(.ordered)) { try await engine.scan($0) }
  }

  /// Throws a failure unless the store contains exactly `entries`, by every way to look.
  func expectHolds(_ engine: any StorageEngine, _ entries: [CacheKey: Entry]) async throws {
    var table = EntryTable(entries)
    try await expectHolds(engine, &table, absent: [])
  }

  /// Throws a failure unless the store contains exactly `table`, by scans, by reads and by count, and nothing under the
  /// keys `absent`. The engine can drop an expired entry. This then removes it from the table, so later calls expect none.
  func expectHolds(
    _ engine: any StorageEngine, _ table: inout EntryTable, absent: Set<CacheKey>
  ) async throws {
    for includesPayloads in [false, true] {
      let found = try await entries(of: engine, ScanRequest(includesPayloads: includesPayloads))
      var scanned: [CacheKey: ScannedEntry] = [:]
      for entry in found { scanned[entry.key] = entry }
      for key in Set(table.entries.keys).union(scanned.keys).sorted() {
        let (got, expected) = (scanned[key], table[key])
        if got == nil, forget(key, in: &table) { continue }
        guard let got, let expected else {
          let problem = got == nil ? "leaves out \(key.abbreviated)" : "gives \(key.abbreviated), which is not there"
          throw ConformanceFailure("a scan \(problem)")
        }
        let payload = got.payload ?? expected.payload
        try expectEqual(Entry(payload: payload, metadata: got.metadata), expected, at: key)
        try expectEqual(got.payloadBytes, expected.payload.count, "\(key.abbreviated): payloadBytes of a scan")
      }
    }
    for key in absent.union(table.entries.keys).sorted() {
      let got = try await engine.entry(key)
      if got == nil, forget(key, in: &table) { continue }
      try expectEqual(got, table[key], at: key)
      try expectReadsNow(engine, key, table[key])
    }
    try await expectCounted(engine, &table)
  }

  /// Removes the entry under `key` from `table` if it has expired, and returns whether it did.
  private func forget(_ key: CacheKey, in table: inout EntryTable) -> Bool {
    guard table[key]?.metadata.state(at: clock.now) == .expired else { return false }
    var batch = WriteBatch()
    batch.remove(key)
    return (try? table.apply(batch)) != nil
  }

  /// Throws a failure unless `readNow` returns `expected`, or declines.
  private func expectReadsNow(_ engine: any StorageEngine, _ key: CacheKey, _ expected: Entry?) throws {
    var entries: [Entry] = []
    let name = Array(key.text.utf8)
    let found = try engine.readNow(name.span) { bytes, metadata in
      entries.append(Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata))
    }
    try expect(
      entries.count == (found == true ? 1 : 0),
      "readNow of \(key.abbreviated) returns \(found.map(String.init) ?? "nil") and has called its closure \(entries.count) times"
    )
    // An expired entry can be dropped between two calls.
    guard let found, found || expected?.metadata.state(at: clock.now) != .expired else { return }
    try expectEqual(entries.first, expected, at: key)
  }

  /// Throws a failure unless the engine counts exactly `table`; expired entries might be gone.
  private func expectCounted(_ engine: any StorageEngine, _ table: inout EntryTable) async throws {
    let got = try await engine.count()
    if got.summaries != table.count.summaries, table.hasExpired(at: clock.now) {
      // An expired entry might have been dropped since it was seen.
      let there = Set(try await entries(of: engine).map(\.key))
      for key in table.entries.keys where !there.contains(key) { _ = forget(key, in: &table) }
      try expectEqual(try await engine.count().summaries, table.count.summaries, "the count")
    } else {
      try expectEqual(got.summaries, table.count.summaries, "the count")
    }
    for (key, entry) in table.entries {
      try expect(
        got[key.namespace].earliestExpiry <= entry.metadata.retainUntil,
        "\(key.abbreviated) expires before the earliestExpiry of the count")
    }
  }
}

extension EntryTable {
  func hasExpired(at time: Timestamp) -> Bool { entries.values.contains { $0.metadata.state(at: time) == .expired } }
}

extension StoreCount {
  fileprivate var summaries: [String] {
    namespaces.map { "\($0): \($1.entries) entries, \($1.payloadBytes) bytes" }.sorted()
  }
}
