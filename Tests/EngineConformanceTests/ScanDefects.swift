import EngineAPI

/// Bugs in how an engine scans.
enum ScanDefects {
  /// Changes the request, and then the page.
  private static func scanning(
    _ name: String, _ caughtBy: [String], request: @escaping @Sendable (inout ScanRequest) -> Void = { _ in },
    page change: @escaping @Sendable (inout ScanPage, ScanRequest) -> Void = { _, _ in }
  ) -> Defect {
    Defect(
      name: name, caughtBy: caughtBy,
      page: { asked, base throws(CacheError) in
        var changed = asked
        request(&changed)
        var page = try await base.scan(changed)
        change(&page, asked)
        return page
      })
  }

  /// The page of all entries from `base`, with its limits ignored.
  private static func everything(
    _ request: ScanRequest, _ base: any StorageEngine
  ) async throws(CacheError) -> [ScannedEntry] {
    var request = request
    request.limit = 10_000
    var entries: [ScannedEntry] = []
    repeat {
      let page = try await base.scan(request)
      entries += page.entries
      request.position = page.next
    } while request.position != nil
    return entries
  }

  static let scans = [
    scanning("scans backwards", ["random-calls"], page: { page, _ in page.entries.reverse() }),
    scanning(
      "wrong sizes", ["random-calls"],
      page: { page, request in
        guard !request.includesPayloads else { return }
        page.entries = page.entries.map {
          ScannedEntry(key: $0.key, metadata: $0.metadata, payloadBytes: $0.payloadBytes + 1)
        }
      }),
    scanning("gives no payloads", ["random-calls"], request: { $0.includesPayloads = false }),
    scanning("gives payloads to everyone", ["random-calls"], request: { $0.includesPayloads = true }),
    scanning(
      "gives emptied payloads", ["random-calls"],
      page: { page, request in
        guard request.includesPayloads else { return }
        page.entries = page.entries.map { ScannedEntry(key: $0.key, metadata: $0.metadata, payload: []) }
      }),
    scanning(
      "prefixes of 511 bytes", ["random-calls"],
      request: { $0.prefix = String($0.prefix.prefix(511)) }),
    Defect(
      name: "visits the key after which to begin",
      caughtBy: ["random-calls"],
      page: { request, base throws(CacheError) in
        var page = try await base.scan(request)
        guard let position = request.position, let key = try? CacheKey(position), key.text.hasPrefix(request.prefix),
          let metadata = try await base.read(key, { _, metadata in metadata })
        else { return page }
        page.entries.insert(ScannedEntry(key: key, metadata: metadata, payloadBytes: 0), at: 0)
        return page
      }),
    scanning(
      "skips the first after a key",
      ["random-calls", "paging-while-removing", "paging-reopened"],
      page: { page, request in page.entries = Array(page.entries.dropFirst(request.position == nil ? 0 : 1)) }),
    scanning(
      "begins again forever", ["random-calls", "paging-while-adding"], request: { $0.position = nil }),
    scanning(
      "always scans forwards", ["random-calls"],
      request: { $0.isDescending = false }),
    scanning("one too many", ["random-calls"], request: { $0.limit += $0.limit < 10_000 ? 1 : 0 }),
    scanning(
      "says that more follows a full page", ["random-calls"],
      page: { page, request in
        if page.entries.count == request.limit { page.next = page.entries.last?.key.text }
      }),
    scanning(
      "never says that more follows", ["random-calls"], page: { page, _ in page.next = nil }),
    scanning(
      "gives something of an empty store", ["random-calls"],
      page: { page, _ in if page.entries.isEmpty { page.next = "a/a" } }
    ),
    Defect(
      name: "gives more bytes than a page may have", caughtBy: ["paging-by-bytes"],
      page: { request, base throws(CacheError) in
        guard request.includesPayloads else { return try await base.scan(request) }
        return ScanPage(try await everything(request, base))
      }),
    scanning(
      "leaves out huge payloads", ["paging-by-bytes"],
      page: { page, request in
        if request.includesPayloads { page.entries.removeAll { $0.payloadBytes > ScanRequest.maximumPayloadBytes } }
      }),
    Defect(
      name: "a position is a number of entries", caughtBy: ["paging-while-removing", "paging-reopened"],
      page: { request, base throws(CacheError) in
        guard let first = request.position.flatMap({ Int($0) }) ?? (request.position == nil ? 0 : nil) else {
          return try await base.scan(request)
        }
        var asked = request
        asked.position = nil
        let all = try await everything(asked, base).dropFirst(first)
        let page = Array(all.prefix(request.limit))
        return ScanPage(page, next: all.count > page.count ? "\(first + page.count)" : nil)
      }),
    Defect(
      name: "a position is known to its handle alone", caughtBy: ["paging-reopened"],
      page: { request, base throws(CacheError) in
        let handle = "#\(UInt(bitPattern: ObjectIdentifier(base).hashValue))"
        var asked = request
        if let position = request.position, position.contains("#") {
          asked.position = position.hasSuffix(handle) ? String(position.prefix { $0 != "#" }) : nil
        }
        var page = try await base.scan(asked)
        page.next = page.next.map { $0 + handle }
        return page
      }),
    Defect(
      name: "loses an entry between pages that have no order",
      caughtBy: ["random-calls", "paging-while-removing"],
      declaration: { $0.with($0.capabilities.subtracting([.ordered])) },
      page: { request, base throws(CacheError) in
        var page = try await base.scan(request)
        page.entries = Array(page.entries.dropFirst(request.position == nil ? 0 : 1))
        return page
      }),
  ]
}
