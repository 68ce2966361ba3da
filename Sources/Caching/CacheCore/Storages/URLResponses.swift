internal import EngineAPI

/// The stored responses for URLs: several for one URL if they differ by `Vary`. Each is an entry: the content as it arrived
/// is the payload, and the head becomes metadata.
///
/// The key is `url/v1/url=URL,variant=NAME`. Up to the comma it is the same for all responses for one URL, so that they are
/// one group (`CacheKey.group`). A URL too long for that is `BEGINNING+sha256=DIGEST`: no other one is encoded with a plus.
///
/// A lookup reads the variant `any`. As long as a URL has one response, that is it. With a second one it becomes a
/// *signpost*: an entry without content that lists the selectors of all responses, each of which has a variant named by its
/// digest. So a lookup takes one read, or two, and never a scan.
///
/// A signpost can list responses that are gone. A response that is not listed, because its signpost was evicted, is not
/// found again, so that an invalidation need not know it: it expires, or is replaced.
public struct URLResponses: Sendable {
  /// Chooses the responses that a request selects.
  typealias Selection = @Sendable ([VariantSelector]) -> [VariantSelector]

  /// The most responses for one URL. With one more, the one that was added first is removed.
  static let maximumVariants = 64
  /// How often other writers can change the list before storing gives up.
  private static let maximumAttempts = 100
  /// The text in a key after the prefix that all keys of a URL share.
  private static let variantName = "variant="
  /// The namespace of all responses.
  package static let namespace = "url"
  /// The text in a key before the URL.
  static let urlStart = "\(namespace)/\(CacheKey.schemeVersion)/url="
  /// The byte in the key of a long URL before its digest.
  static let digestStart = UInt8(ascii: "+")
  /// The text in a key after the URL.
  static let variantStart = "," + variantName
  /// The variant that a lookup reads first.
  static let usualVariant = "any"
  /// The variant for all requests without credentials, if there are others.
  private static let plainVariant = "plain"

  private let store: EntryStore

  /// Creates the responses in `store`.
  public init(store: EntryStore) {
    self.store = store
  }

  // MARK: Look up

  /// The latest of the responses for `url` that `select` chooses, and whether there are others.
  ///
  /// - Throws: `CacheError`: the engine failed, or an entry is `damaged`. The message names the URL instead of a key.
  func latest(
    of url: String, where select: Selection
  ) async throws(CacheError) -> (response: StoredResponse<HTTP.Response>?, hasOthers: Bool) {
    let found = try await read(try Self.key(of: url), of: url) { metadata in
      metadata.variants ?? (select([metadata.selector]).isEmpty ? [metadata.selector] : nil)
    }
    guard let found, found.response == nil else { return (found?.response, false) }
    let selected = select(found.others)
    var latest: StoredResponse<HTTP.Response>?
    for variant in selected {
      guard let response = try await read(try Self.key(of: url, variant), of: url)?.response else { continue }
      if latest.map({ $0.head.storedAt < response.head.storedAt }) ?? true { latest = response }
    }
    return (latest, found.others.count > selected.count)
  }

  /// The stored response under `key`; `nil` if there is none, or an expired one.
  ///
  /// - Throws: `CacheError`: the engine failed, or the entry is `damaged`.
  func response(under key: String) async throws(CacheError) -> StoredResponse<HTTP.Response>? {
    try await read(try Self.cacheKey(key))?.response
  }

  /// The response under `key`, or the selectors that `others` makes of its metadata as stored.
  private func read(
    _ key: CacheKey, of url: String? = nil,
    others: @Sendable (EntryMetadata) -> [VariantSelector]? = { _ in nil }
  ) async throws(CacheError) -> (response: StoredResponse<HTTP.Response>?, others: [VariantSelector])? {
    typealias Found = (response: StoredResponse<HTTP.Response>?, others: [VariantSelector])
    do throws(CacheError) {
      return try await store.read(key, byMetadata: { others($0).map { Found(nil, $0) } }) { bytes, metadata -> Found in
        let (head, body) = (metadata.httpHead, bytes.withUnsafeBufferPointer { Array($0) })
        let response = HTTP.Response(head.head, body: body)
        return (StoredResponse(key: key.text, response: response, head: head, version: metadata.checksum), [])
      }?.value
    } catch {
      throw url.map { error.naming($0, not: key.text) } ?? error
    }
  }

  /// Counts a lookup in the store's usage, and, if it found a response under `key`, a use of the entries that it read
  /// for `url`.
  func countLookUp(_ key: String?, of url: String) {
    store.countLookUp(key.flatMap { try? CacheKey($0) })
    guard let key, let first = try? Self.key(of: url), first.text != key else { return }
    store.uses.record(first, at: store.clock.now)
  }

  // MARK: Change

  /// The stored responses for `url`, and which of them `select` chooses, without their content. If fields are hidden from this
  /// process, the head has none. Entries that are too damaged for that are left out, and can be replaced.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func variants(of url: String, where select: Selection) async throws(CacheError) -> StoredVariants {
    let (key, now) = (try Self.key(of: url), store.clock.now)
    var variants = StoredVariants()
    do throws(CacheError) {
      guard let first = try await store.metadata(key) else { return variants }
      variants.expectation = .checksum(first.checksum)
      guard first.state(at: now) != .expired else { return variants }
      variants.known = first.variants ?? [first.selector]
      variants.matching = select(variants.known)
      guard first.variants == nil else {
        variants.signpost = first.retainUntil
        for selector in variants.matching {
          let key = try Self.key(of: url, selector)
          guard let head = try await head(under: key, at: now) else { continue }
          variants.selected.append(StoredVariant(key: key.text, head: head))
        }
        return variants
      }
      variants.selected = variants.matching.map { _ in StoredVariant(key: key.text, head: first.httpHead) }
    } catch {
      guard error.isOfOneEntry else { throw error }
      variants.expectation = nil
    }
    return variants
  }

  /// The head of the response under `key`; `nil` if there is none, if it has expired at `now`, or cannot be read.
  private func head(under key: CacheKey, at now: Timestamp) async throws(CacheError) -> StoredHead? {
    let metadata = try await ifReadable { () async throws(CacheError) in try await store.metadata(key) }
    return metadata.flatMap { $0.state(at: now) == .expired ? nil : $0.httpHead }
  }

  /// Stores `body` with `head` for `url` in the place of the responses that `select` chooses, and returns the key of its
  /// entry: all or nothing. If another writer has changed the list of responses, it looks again.
  ///
  /// - Parameters:
  ///   - variants: the stored responses for `url`, if they are known.
  ///   - confirmed: the stored response with this body, which the entry must still have. It gets the new head, which
  ///     selects as before, and its content need not be stored again. `nil` to store in any case.
  ///   - token: the request that fetched the response; `nil` if there is none.
  ///   - endsLease: whether the same commit removes the lease of that request.
  ///   - select: chooses the responses to replace; by default only the one of the same variant.
  /// - Throws: `CacheError`: the engine failed; `conflict` if the entry has another version, or the request is outdated.
  func store(
    _ body: [UInt8], head: StoredHead, for url: String, among variants: StoredVariants? = nil,
    confirming confirmed: StoredResponse<HTTP.Response>? = nil, token: CoalescingToken? = nil, endsLease: Bool = true,
    where select: Selection = { _ in [] }
  ) async throws(CacheError) -> String {
    var variants = if let variants { variants } else { try await self.variants(of: url, where: select) }
    var attempt = 1
    while true {
      do throws(CacheError) {
        guard let other = variants.onlyOther(than: head.selector) else {
          return try await add(
            body, head, for: url, among: variants, confirming: confirmed, token, endsLease: endsLease)
        }
        variants = try await moveAside(other, of: url, variants, where: select)
      } catch {
        guard error.code == .conflict, attempt < Self.maximumAttempts else { throw error }
        let current = try await self.variants(of: url, where: select)
        guard current != variants else { throw error }
        variants = current
        attempt += 1
      }
    }
  }

  private func add(
    _ body: [UInt8], _ head: StoredHead, for url: String, among variants: StoredVariants,
    confirming confirmed: StoredResponse<HTTP.Response>?, _ token: CoalescingToken?, endsLease: Bool
  ) async throws(CacheError) -> String {
    let first = try Self.key(of: url)
    let key = variants.signpost == nil ? first : try Self.key(of: url, head.selector)
    if let confirmed, confirmed.key != key.text { throw .conflict(on: key) }
    let metadata = EntryMetadata(http: head)
    var batch = WriteBatch()
    if let end = variants.signpost, let expectation = variants.expectation {
      var known = variants.known.filter { $0 == head.selector || !variants.matching.contains($0) }
      if !known.contains(head.selector) { known = (known + [head.selector]).suffix(Self.maximumVariants) }
      for gone in variants.known where !known.contains(gone) { batch.remove(try Self.key(of: url, gone)) }
      if known != variants.known || end < metadata.retainUntil {
        // Kept for longer, so that not every confirmation writes it again.
        let later = metadata.retainUntil.advanced(by: metadata.retainUntil.duration(since: metadata.storedAt))
        batch.require(first, expectation)
        try store.put(
          first, [], EntryMetadata(signpostTo: known, at: store.clock.now, until: max(end, later)), into: &batch)
      }
    }
    let expectation = variants.signpost == nil ? variants.expectation : nil
    do throws(CacheError) {
      let isRenewed = try await store.renew(
        key, from: confirmed?.version, with: batch, token: token, endsLease: endsLease
      ) { _ in metadata }
      if isRenewed { return key.text }
      try await store.write(
        key, payload: body, metadata: metadata, expecting: confirmed?.version.map { .checksum($0) } ?? expectation,
        with: batch, token: token, endsLease: endsLease)
    } catch {
      throw error.naming(url, not: key.text)
    }
    return key.text
  }

  /// Makes the only response for `url` one of several: it gets its own key, and a signpost takes its place. If it
  /// cannot be read, or there is no room for both, another response can replace it.
  ///
  /// - Returns: the responses that are stored now.
  private func moveAside(
    _ other: VariantSelector, of url: String, _ variants: StoredVariants, where select: Selection
  ) async throws(CacheError) -> StoredVariants {
    let key = try Self.key(of: url)
    do throws(CacheError) {
      guard let response = try await read(key)?.response else { throw .conflict(on: key) }
      let metadata = EntryMetadata(http: response.head)
      var batch = WriteBatch()
      try store.put(try Self.key(of: url, other), response.response.body, metadata, into: &batch)
      let signpost = EntryMetadata(signpostTo: [other], at: store.clock.now, until: metadata.retainUntil)
      try await store.write(key, payload: [], metadata: signpost, expecting: variants.expectation, with: batch)
    } catch {
      guard error.code == .overBounds || error.isOfOneEntry else { throw error }
      var variants = variants
      variants.known = []
      return variants
    }
    return try await self.variants(of: url, where: select)
  }

  /// Removes the entries under `keys`: all or none.
  func remove(_ keys: [String]) async throws(CacheError) {
    var batch = WriteBatch()
    for key in keys { batch.remove(try Self.cacheKey(key)) }
    try await store.engine.apply(batch)
  }

  /// Removes all responses for `urls`: all or none. Responses that this process or another is fetching for them now are
  /// not stored.
  func invalidate(_ urls: [String]) async throws(CacheError) {
    let prefixes = urls.map(Self.keyPrefix)
    try await store.coalescer.endRequests { scope in prefixes.contains { scope.meets(prefix: $0) } }
    var batch = WriteBatch()
    for url in urls {
      let variants = try await variants(of: url) { _ in [] }
      if variants.expectation == .absent { continue }
      batch.remove(try Self.key(of: url))
      if variants.signpost == nil { continue }
      for selector in variants.known { batch.remove(try Self.key(of: url, selector)) }
    }
    if !batch.operations.isEmpty { try await store.engine.apply(batch) }
  }

  // MARK: Keys

  /// The key of the entry for `url` that a lookup reads first; with a selector, of the variant that a signpost lists.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the key would be too long.
  static func key(of url: String, _ selector: VariantSelector? = nil) throws(CacheError) -> CacheKey {
    let variant = selector.map { $0.digest.isEmpty ? plainVariant : $0.digest } ?? usualVariant
    return try cacheKey("\(keyPrefix(of: url))\(variantName)\(variant)")
  }

  /// The prefix of the keys of all entries for `url`, which must have the form of `HTTP.Request.normalizedURL`. Spellings
  /// that differ in unnecessary percent codes, or in the case of codes, have one prefix (RFC 3986, section 6.2.2).
  public static func keyPrefix(of url: String) -> String {
    "\(urlStart)\(name(of: PercentEncoding.normalized(url))),"
  }

  /// The longest encoded URL that is in a key, in bytes: the key of a lease has more than that.
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
      throw CacheError(.invalidRequest, error.message, hint: "shorten the request", cause: error)
    }
  }
}

/// The stored responses for a URL, as far as a change must know them.
struct StoredVariants: Sendable, Equatable {
  /// The condition for replacing the entry that a lookup reads first: it must not have changed. `nil` for none, as it cannot be
  /// read.
  var expectation: WriteBatch.Expectation? = .absent
  /// Until when that entry is kept, if it is a signpost; `nil` if it is not.
  var signpost: Timestamp?
  /// The selectors of all responses, in the order in which they were added.
  var known: [VariantSelector] = []
  /// Those that a request selects.
  var matching: [VariantSelector] = []
  /// The responses that it selects, as far as they are still there.
  var selected: [StoredVariant] = []

  /// The only response, if one with `selector` does not replace it, but must have a place next to it.
  fileprivate func onlyOther(than selector: VariantSelector) -> VariantSelector? {
    guard signpost == nil, let only = known.first, only != selector, !matching.contains(only) else { return nil }
    return only
  }
}

/// A stored response without its content.
struct StoredVariant: Sendable, Hashable {
  /// The key of its entry.
  let key: String
  /// The header and times that decide how the response can be used.
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

  /// The metadata of a signpost to the responses with the selectors `known`.
  fileprivate init(signpostTo known: [VariantSelector], at now: Timestamp, until end: Timestamp) {
    let text = known.map(\.text).joined(separator: ",")
    self.init(
      storedAt: now, freshUntil: end, retainUntil: end, contentType: "", attributes: [AttributeName.variants: text])
  }

  /// Whether the entry is the signpost to several responses for a URL, and no response itself.
  package var isSignpost: Bool { attribute(named: AttributeName.variants) != nil }

  /// The selectors that a signpost lists; `nil` if this is a response.
  fileprivate var variants: [VariantSelector]? {
    attribute(named: AttributeName.variants).map { text in
      text.split(separator: ",", omittingEmptySubsequences: false).suffix(URLResponses.maximumVariants)
        .map { VariantSelector(text: $0) ?? .always }
    }
  }

  fileprivate var httpHead: StoredHead {
    // Split by bytes: a value can begin with a combining mark, which would merge with the space before it.
    let lines = (attribute(named: Self.blockName) ?? "").utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.firstIndex(of: UInt8(ascii: ":")).map { colon in
        let value = line[line.index(after: colon)...].dropFirst()
        return HTTP.Fields.Field(String(Substring(line[..<colon])), String(Substring(value)))
      }
    }
    var stored = storedHead(fields: HTTP.Fields(lines))
    let line = (attribute(named: Self.lineName) ?? "").utf8
      .split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
    stored.head.version = line.first.flatMap { HTTP.Version(rawValue: String(Substring($0))) }
    stored.head.reason = line.count == 2 ? String(Substring(line[1])) : nil
    return stored
  }
}

extension HTTP.ResponseHead {
  fileprivate var blockAttributes: [String: String] {
    var attributes = [EntryMetadata.blockName: fields.lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n")]
    if let version { attributes[EntryMetadata.lineName] = version.rawValue + (reason.map { " \($0)" } ?? "") }
    return attributes
  }
}

extension CacheError {
  /// The same error, with `url` in the message instead of `key`: people know the entry by it.
  fileprivate func naming(_ url: String, not key: String) -> CacheError {
    CacheError(code, message.replacing(key, by: url), hint: hint, cause: cause)
  }
}
