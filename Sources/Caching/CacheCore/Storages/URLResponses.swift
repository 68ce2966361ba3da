internal import Base
internal import FetchVocabulary
internal import StorageSPI

/// The stored responses for URLs: several for one URL if they differ by `Vary`. Each is an entry: the content as it arrived
/// is the payload, and the head becomes metadata.
///
/// The key is `url/v1/url=URL/variant=DIGEST`, so the responses for one URL are next to each other. A URL too long for
/// that is `BEGINNING+sha256=DIGEST`: no other one is encoded with a plus.
public struct URLResponses: Sendable {
  /// The number of responses for one URL to list in one scan.
  private static let variantsPerScan = 64
  /// The text between the URL and the digest in a key.
  private static let variantName = "variant="
  /// The text in each key before the digest, and nowhere else.
  static let variantStart = "/" + variantName
  /// The digest of a response that answers all requests for its URL.
  static let usualVariant = "any"

  private let store: EntryStore

  /// Creates the responses in `store`.
  public init(store: EntryStore) {
    self.store = store
  }

  /// The stored responses for `url` that have not expired, without their content. Those whose fields are hidden from this
  /// process, or were changed, have none: reading them says why.
  func variants(of url: String) async throws(CacheError) -> [StoredVariant] {
    var request = ScanRequest(prefix: Self.keyPrefix(of: url), limit: Self.variantsPerScan)
    let now = store.clock.now
    // An engine that is not ordered may return an entry twice.
    var (found, keys) = ([StoredVariant](), Set<CacheKey>())
    repeat {
      let page = try await store.engine.scan(request)
      for entry in page.entries where entry.metadata.state(at: now) != .expired && keys.insert(entry.key).inserted {
        found.append(StoredVariant(key: entry.key.text, head: try head(of: entry)))
      }
      request.position = page.next
    } while request.position != nil
    return found
  }

  private func head(of entry: ScannedEntry) throws(CacheError) -> StoredHead {
    // Only where the fields are missing may a transform have hidden them.
    if let fields = entry.metadata.attributes[EntryMetadata.blockName] {
      return entry.metadata.httpHead(fields: fields)
    }
    do throws(CacheError) {
      return try store.transforms.revealed(entry.metadata, key: entry.key).httpHead
    } catch {
      // It must not keep the other variants from being used.
      guard error.isOfOneEntry else { throw error }
      return entry.metadata.httpHead
    }
  }

  /// The stored response under `key`; `nil` if there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  func response(under key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>? {
    let found = try await store.read(try Self.cacheKey(key)) { bytes, metadata throws(CacheError) in
      (bytes.withUnsafeBufferPointer { Array($0) }, metadata.httpHead, metadata.checksum)
    }
    guard let (body, head, version) = found?.value else { return nil }
    return StoredResponse(key: key, response: HTTPResponse(head.head, body: body), head: head, version: version)
  }

  /// Stores `body` with `head` for `url`, removes the entries under the keys `replaced`, and returns the new entry's key:
  /// all or nothing.
  ///
  /// - Parameters:
  ///   - confirmed: the stored response with this body, which the entry must still have. It gets the new head, which
  ///     selects as before, and its content need not be stored again. `nil` to store in any case.
  ///   - token: the request that fetched the response; `nil` if there is none.
  ///   - endsLease: whether the same commit removes the lease of that request.
  /// - Throws: `CacheError`: the engine failed; `conflict` if the entry has another version, or the request is outdated.
  func store(
    _ body: [UInt8], head: StoredHead, for url: String, replacing replaced: [String] = [],
    confirming confirmed: StoredResponse<HTTPResponse>? = nil, token: CoalescingToken? = nil, endsLease: Bool = true
  ) async throws(CacheError) -> String {
    let text = if let confirmed { confirmed.key } else { try key(of: url, selector: head.selector) }
    let key = try Self.cacheKey(text)
    let (metadata, removal) = (EntryMetadata(http: head), try Self.removal(of: replaced))
    let isRenewed = try await store.renew(
      key, from: confirmed?.version, with: removal, token: token, endsLease: endsLease
    ) { _ in metadata }
    if isRenewed { return text }
    try await store.write(
      key, payload: body, metadata: metadata, expecting: confirmed?.version.map { .checksum($0) }, with: removal,
      token: token, endsLease: endsLease)
    return text
  }

  /// Removes the entries under `keys`: all or none.
  func remove(_ keys: [String]) async throws(CacheError) {
    try await store.engine.apply(try Self.removal(of: keys))
  }

  private static func removal(of keys: [String]) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for key in keys { batch.remove(try cacheKey(key)) }
    return batch
  }

  /// Removes all responses for `urls`: all or none. What is being fetched of them now, in this process or another, is
  /// not stored.
  func invalidate(_ urls: [String]) async throws(CacheError) {
    let prefixes = urls.map(Self.keyPrefix)
    try await store.coalescer.endRequests { scope in prefixes.contains { scope.meets(prefix: $0) } }
    var keys: [String] = []
    for url in urls { keys += try await variants(of: url).map(\.key) }
    if !keys.isEmpty { try await remove(keys) }
  }

  /// The key of the entry for `url` and `selector`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  func key(of url: String, selector: VariantSelector) throws(CacheError) -> String {
    let variant = selector.digest.isEmpty ? Self.usualVariant : selector.digest
    return try Self.cacheKey("\(Self.keyPrefix(of: url))\(Self.variantName)\(variant)").text
  }

  /// Counts a look-up in the store's usage, and a use of the entry under `key`, if the look-up found one.
  func countLookUp(_ key: String?) { store.countLookUp(key.flatMap { try? CacheKey($0) }) }

  /// The prefix of the keys of all entries for `url`, which must have the form of `HTTPRequest.normalizedURL`. Spellings
  /// that differ in unnecessary percent codes, or in the case of codes, have one prefix (RFC 3986, section 6.2.2).
  public static func keyPrefix(of url: String) -> String {
    "url/\(CacheKey.schemeVersion)/url=\(name(of: PercentEncoding.normalized(url)))/"
  }

  /// The longest encoded URL that is in a key, in bytes: with the rest of the key, and encoded once more in the key of a
  /// lease, it stays below the limit of keys.
  private static let maximumNameLength = 8_192
  /// How much of a longer one is in the key, for readers.
  private static let beginningLength = 1_024

  private static func name(of url: String) -> String {
    let text = PercentEncoding.text(url)
    guard text.utf8.count > maximumNameLength else { return text }
    var (beginning, digest) = (text.utf8.prefix(beginningLength), SHA256())
    if let cut = beginning.suffix(2).firstIndex(of: UInt8(ascii: "%")) { beginning = beginning[..<cut] }
    digest.update(Array(url.utf8))
    return "\(Substring(beginning))+sha256=\(digest.hexText)"
  }

  private static func cacheKey(_ text: String) throws(CacheError) -> CacheKey {
    do throws(CacheError) {
      return try CacheKey(text)
    } catch {
      throw CacheError(.invalidRequest, error.message, hint: "shorten what is asked for", cause: error)
    }
  }
}

/// A stored response without its content.
struct StoredVariant: Sendable, Hashable {
  /// The key of its entry.
  let key: String
  /// What decides how the response may be used.
  let head: StoredHead
}

/// The header of a response for a URL is stored whole, with its fields in order, and the rest of its status line.
extension EntryMetadata {
  fileprivate static let blockName = ":fields"
  /// The protocol version, followed by a space and the reason, if there is one.
  fileprivate static let lineName = ":line"

  /// The name of the attribute that is part of a response's head and holds a character that would end a line of it
  /// early; `nil` if there is none.
  static func nameOfBrokenHead(in attributes: [String: String]) -> String? {
    if attributes[lineName]?.utf8.contains(where: { [0, 10, 13].contains($0) }) == true { return lineName }
    return attributes[blockName]?.utf8.contains(where: { [0, 13].contains($0) }) == true ? blockName : nil
  }

  /// The metadata of the response for a URL with the head `stored`.
  fileprivate init(http stored: StoredHead) {
    self.init(
      stored, contentType: stored.head.fields["content-type"] ?? "", attributes: stored.head.blockAttributes)
  }

  fileprivate var httpHead: StoredHead { httpHead(fields: attributes[Self.blockName] ?? "") }

  /// The head with the header fields in `block`, the attribute called `blockName`.
  fileprivate func httpHead(fields block: String) -> StoredHead {
    // Split by bytes: a value may begin with a combining mark, which would merge with the space before it.
    let lines = block.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstIndex(of: UInt8(ascii: ":")).map { colon in
        let value = line[line.index(after: colon)...].dropFirst()
        return HTTPFields.Field(String(Substring(line[..<colon])), String(Substring(value)))
      }
    }
    var stored = storedHead(fields: HTTPFields(lines))
    let line = (attributes[Self.lineName] ?? "").utf8
      .split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    stored.head.version = line.first.flatMap { HTTPVersion(rawValue: String(Substring($0))) }
    stored.head.reason = line.count == 2 ? String(Substring(line[1])) : nil
    return stored
  }
}

extension HTTPResponseHead {
  fileprivate var blockAttributes: [String: String] {
    var attributes = [EntryMetadata.blockName: fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")]
    if let version { attributes[EntryMetadata.lineName] = version.rawValue + (reason.map { " \($0)" } ?? "") }
    return attributes
  }
}
