internal import CCachectlPlugin
internal import EngineSupport
internal import StorageSPI

// The calls of an open store. Each blocks for as long as the library takes.

extension LibraryEngine {
  /// Lends the entry under `key` to `body`, if there is one, and returns whether there is.
  ///
  /// This is the hot path. It is not generic, which saves looking up type metadata.
  ///
  /// - Throws: `CacheError`: the error of `body`, which takes precedence over everything else; the library's error;
  ///   `failed` if it broke a rule.
  func lend(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool {
    try key.withUnsafeBufferPointer { key throws(CacheError) in
      var isFound = false
      var thrown: CacheError?
      do throws(CacheError) {
        try LibraryCall.make(table, .entry) { _, lent throws(LibraryDefect) in
          if isFound { throw LibraryDefect("gave more than one entry for one key") }
          isFound = true
          let entry = LibraryEntry(lent)
          guard entry.hasKey(key) else { throw LibraryDefect("gave another entry than the requested one") }
          let payload = try entry.payload()
          let metadata = try entry.metadata()
          do throws(CacheError) { try body(payload.span, metadata) } catch { thrown = error }
        } function: { context, failure in
          table.engine.read(
            store, cachectl_bytes(data: key.baseAddress, length: key.count), { LibraryCall.callback($0, .entry, $1) },
            context, failure)
        }
      } catch {
        throw thrown ?? error
      }
      if let thrown { throw thrown }
      return isFound
    }
  }

  /// A copy of the entry under `key`, for libraries whose reads wait: copying is much faster than waiting.
  func copy(of key: CacheKey) throws(CacheError) -> EntryTable.Entry? {
    var found: EntryTable.Entry?
    _ = try lend(key.text.utf8Span.span) { payload, metadata in
      found = EntryTable.Entry(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
    return found
  }

  /// Makes the changes of `batch`.
  ///
  /// - Throws: `CacheError`: the library's error, after which nothing has changed; `failed` if it broke a rule, after
  ///   which the changes may or may not have been made.
  func applyNow(_ batch: WriteBatch) throws(CacheError) {
    let arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let lent = arena.batch(batch)
    do throws(CacheError) {
      try LibraryCall.make(table) { _, failure in table.engine.apply(store, lent, failure) }
    } catch {
      guard error.cause is LibraryDefect else { throw error }
      throw CacheError(
        error.code, "\(error.message); whether the changes were made is not known",
        hint: "look at the entries before you try again; \(error.hint)", cause: error.cause)
    }
  }

  /// A page of entries.
  func scanNow(_ request: ScanRequest) throws(CacheError) -> ScanPage {
    let arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    var lentRequest = cachectl_scan_request(
      prefix: arena.bytes(request.prefix), position: arena.bytes(request.position ?? ""), limit: request.limit,
      has_payloads: request.includesPayloads ? 1 : 0, is_descending: request.isDescending ? 1 : 0)
    let isOrdered = table.declaration.capabilities.contains(.ordered)
    var page = ScanPage()
    try LibraryCall.make(table, [.scannedEntry, .text]) { kind, lent throws(LibraryDefect) in
      if page.next != nil { throw LibraryDefect("continued a scan after its next position") }
      if kind == .text {
        let next = try LibraryText.line(lent.loadUnaligned(as: cachectl_bytes.self), "position")
        guard next != request.position else { throw LibraryDefect("gave the position of the request as the next one") }
        // Otherwise a walk through the store could visit the same entries for ever.
        if isOrdered, let last = page.entries.last?.key.text ?? request.position,
          request.isDescending ? next > last : next < last
        {
          throw LibraryDefect("gave a next position that leads back")
        }
        page.next = next
        return
      }
      guard page.entries.count < request.limit else {
        throw LibraryDefect("gave more than the \(request.limit) requested entries")
      }
      let entry = try LibraryEntry(lent).scanned(withPayload: request.includesPayloads)
      guard isOrdered ? request.contains(entry.key) : entry.key.text.hasPrefix(request.prefix) else {
        throw LibraryDefect("gave entry \(entry.key), which was not requested")
      }
      if isOrdered, let last = page.entries.last?.key, request.isDescending ? entry.key >= last : entry.key <= last {
        throw LibraryDefect("gave entry \(entry.key) after \(last)")
      }
      page.entries.append(entry)
    } function: { context, failure in
      table.engine.scan(
        store, &lentRequest, { LibraryCall.callback($0, .scannedEntry, $1) }, { LibraryCall.callback($0, .text, $1) },
        context,
        failure)
    }
    return page
  }

  /// How much the store holds.
  func countNow() throws(CacheError) -> StoreCount {
    var count = StoreCount()
    var storageBytes: UInt64 = 0
    try LibraryCall.make(table, .count) { _, lent throws(LibraryDefect) in
      let lent = lent.loadUnaligned(as: cachectl_count.self)
      let namespace = try LibraryText.text(lent.name_space, "namespace")
      guard CacheKey.isNamespace(namespace), count[namespace].entries == 0 else {
        throw LibraryDefect("counted a namespace twice, or \(LibraryText.cleaned(namespace).debugDescription)")
      }
      // So few and so small that no sum of them overflows.
      guard count.namespaces.count < 1 << 16 else { throw LibraryDefect("counted more than \(1 << 16) namespaces") }
      guard lent.entries > 0, max(lent.entries, lent.payload_bytes) < 1 << 46 else {
        throw LibraryDefect("counted \(lent.entries) entries with \(lent.payload_bytes) bytes")
      }
      count[namespace] = EntryCount(
        entries: Int(lent.entries), payloadBytes: Int(lent.payload_bytes),
        earliestExpiry: try LibraryEntry.time(lent.earliest_expiry))
    } function: { context, failure in
      table.engine.count(store, { LibraryCall.callback($0, .count, $1) }, context, &storageBytes, failure)
    }
    guard storageBytes < 1 << 62 else {
      throw .defect(LibraryDefect("says that its store takes up \(storageBytes) bytes"), of: table.name)
    }
    count.storageBytes = Int(storageBytes)
    return count
  }

  /// The issues that the library finds in the store.
  func checkNow() throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try LibraryCall.make(table, .issue) { _, lent throws(LibraryDefect) in
      // A library that reports more than this is stuck in a loop.
      guard issues.count < 1 << 18 else { throw LibraryDefect("reported more than \(1 << 18) issues") }
      let lent = lent.loadUnaligned(as: cachectl_issue.self)
      let kind = try LibraryText.text(lent.kind, "kind of an issue")
      guard LibraryText.isName(kind) else { throw LibraryDefect("reported a kind of issue not in camel case") }
      let message = LibraryText.cleaned(try LibraryText.text(lent.message, "message of an issue"))
      guard !message.isEmpty else { throw LibraryDefect("reported an issue without a message") }
      let key = lent.key.length == 0 ? nil : try CacheKey(lent: lent.key)
      issues.append(IntegrityIssue(key: key, kind: IntegrityIssue.Kind(rawValue: kind), message: message))
    } function: { context, failure in
      table.engine.check(store, { LibraryCall.callback($0, .issue, $1) }, context, failure)
    }
    return issues
  }
}
