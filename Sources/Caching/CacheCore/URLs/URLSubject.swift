internal import FetchVocabulary

/// A request for a URL, which can have several entries, partial content, and methods that change the origin.
struct URLSubject: FetchSubject {
  let request: HTTPRequest
  let storage: any HTTPResponseStorage
  let transfer: any DataTransferService
  let rules: HTTPCacheRules
  let now: @Sendable () -> Duration
  /// The cache's name in `Cache-Status`.
  let cacheName: String
  /// The largest content that is put together from parts, in bytes.
  let maxContentBytes: Int

  var origin: String { URLReference.host(of: request.url) ?? request.url }

  func message() throws(CacheError) -> HTTPRequest {
    guard request.hasValidHost else {
      throw CacheError(
        .invalidRequest, "the header field Host does not name one server",
        hint: "write it once, as example.com or example.com:8080")
    }
    return request
  }

  func key() throws(CacheError) -> String { try storage.key(of: request.target, selector: .always) }

  func flight() throws(CacheError) -> String? {
    // The failure of a server without proof of its identity is not shared with other callers.
    guard request.retrieves, rules.believesServer(of: request) else { return nil }
    var text = request.fields.lines.map { "\($0.name.lowercased()):\($0.value)\n" }.joined()
    text += "\n\(rules.party(of: request))"
    return "\(try key()) \(request.method)/\(rules.fingerprint(text, of: request))"
  }

  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<HTTPResponse> {
    guard request.retrieves else { return Lookup(missing: .method) }
    try rules.requireCredentialKey(for: request)
    let lookup = try await usable(await storage.variants(of: request.target))
    if isCounted { storage.countLookUp(lookup.found?.key) }
    return lookup
  }

  private func usable(_ variants: [StoredVariant]) async throws(CacheError) -> Lookup<HTTPResponse> {
    guard let latest = selected(variants).max(by: { $0.head.storedAt < $1.head.storedAt }) else {
      return Lookup(missing: variants.isEmpty ? .uriMiss : .varyMiss)
    }
    guard let found = try await read(latest.key) else { return Lookup() }
    let now = found.head.storedAt
    guard let content = PartialContent(found.head.head, count: found.response.body.count),
      content.answer(to: request, now: now) != .missing
    else { return Lookup(missing: .partial, part: found) }
    // Only the origin may answer these preconditions.
    if Preconditions(request).outcome(for: found.head, now: now) == .forward { return Lookup(missing: .request) }
    return Lookup(found: found)
  }

  /// Reads the response under `key`. An error names the URL, by which people know the entry.
  private func read(_ key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>? {
    do throws(CacheError) { return try await storage.response(under: key) } catch {
      throw error.naming(request, not: key)
    }
  }

  func selected(_ variants: [StoredVariant]) -> [StoredVariant] {
    // A URL can have many variants for other cookies: make a digest once for all with the same names.
    var own: VariantSelector?
    return variants.filter { variant in
      let stored = variant.head.selector
      let selector = own?.names == stored.names ? own : rules.selector(stored.names, of: request)
      own = selector
      return selector == stored
    }
  }

  func ask(
    _ conditions: HTTPFields, completing part: StoredResponse<HTTPResponse>?, during flight: FlightTicket?
  ) async throws(CacheError) -> OriginAnswer<HTTPResponse> {
    if let part, let answer = try await askForRest(of: part, during: flight) { return answer }
    var conditional = request
    if !conditions.lines.isEmpty {
      let kept = request.fields.lines.filter { !Preconditions.names.contains($0.name.lowercased()) }
      conditional.fields = HTTPFields(kept + conditions.lines)
    }
    let response = try await send(conditional, during: flight)
    // Without a condition a 304 confirms nothing, and is an error.
    let isConfirmation =
      response.head.status == 304 && request.retrieves
      && (!conditions.lines.isEmpty || !Self.confirmable.contains(where: conditional.fields.contains))
    return OriginAnswer(head: response.head, response: isConfirmation ? nil : response)
  }

  /// The conditions that a 304 answers (RFC 9110, section 15.4.5).
  private static let confirmable = ["if-none-match", "if-modified-since"]

  func keep(
    _ answer: HTTPResponse, _ head: StoredHead, confirming base: StoredResponse<HTTPResponse>?,
    ending flight: FlightTicket?
  ) async throws(CacheError) -> String {
    // What was fetched before a change removes nothing that came after it.
    if head.retainUntil <= head.storedAt, flight?.isOutdated == true { return try key() }
    return try await keep(answer, head, confirming: base, in: storage.ending(flight))
  }

  /// Stores an answer, or the result of confirming `base`, in `storage`, and returns its entry's key.
  func keep(
    _ answer: HTTPResponse, _ head: StoredHead, confirming base: StoredResponse<HTTPResponse>?,
    in storage: any HTTPResponseStorage
  ) async throws(CacheError) -> String {
    try rules.requireCredentialKey(for: request)
    let variants = selected(try await storage.variants(of: request.target))
    guard head.retainUntil > head.storedAt else {
      if !variants.isEmpty { try await storage.remove(variants.map(\.key)) }
      return try key()
    }
    guard answer.rest == nil else {
      throw CacheError(.tooLarge, "the response is too large to be kept", hint: "raise cache.maxEntryBytes")
    }
    let confirmed = base?.key == (try storage.key(of: request.target, selector: head.selector)) ? base : nil
    let new = confirmed == nil ? try await combined(answer, head, with: variants) : (head, answer.body)
    guard let (head, body) = new else { return try key() }
    let key = try storage.key(of: request.target, selector: head.selector)
    let outdated = variants.map(\.key).filter { $0 != key }
    do throws(CacheError) {
      if let confirmed, try await storage.renew(confirmed, head: head, replacing: outdated) { return key }
      return try await storage.store(
        body, head: head, for: request.target, replacing: outdated, expecting: confirmed?.version)
    } catch {
      throw error.naming(request, not: key)
    }
  }

  /// The head and content to store for `answer`. A part is joined with the stored part if they belong together and the
  /// result is not too large. `nil` if it is unclear which part of the content `answer` has.
  private func combined(
    _ answer: HTTPResponse, _ head: StoredHead, with variants: [StoredVariant]
  ) async throws(CacheError) -> (StoredHead, [UInt8])? {
    guard head.head.status == 206 else { return (head, answer.body) }
    guard PartialContent(head.head, count: answer.body.count) != nil else { return nil }
    var trace = CacheTrace(isRecording: false)
    for variant in variants {
      guard let stored = try await readable(variant.key) else { continue }
      let joined = rules.combined(
        stored.head, stored.response.body, with: answer, requestTime: head.storedAt, responseTime: head.storedAt,
        trace: &trace)
      if let joined, joined.1.count <= maxContentBytes { return joined }
    }
    return (head, answer.body)
  }

  /// The stored response under `key`; `nil` if it is gone or cannot be read.
  private func readable(_ key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>? {
    do throws(CacheError) { return try await storage.response(under: key) } catch {
      guard error.isOfOneEntry else { throw error }
      return nil
    }
  }

  /// RFC 9111, section 4: a response answers other requests only if it may be reused for them without validation.
  func mayShare(_ answer: HTTPResponse, _ head: StoredHead) -> Bool {
    var trace = CacheTrace(isRecording: false)
    let decision = rules.decision(
      for: request, stored: head, options: FetchOptions(), now: head.storedAt, trace: &trace)
    // Content that still arrives can be read once, and some fields are for one reader alone.
    return answer.rest == nil && decision.action == .serve && !rules.hasFieldsOfOneUse(answer.head.fields)
  }

  func settle(_ exchange: OriginExchange, during flight: FlightTicket?) async throws(CacheError) {
    guard rules.believesServer(of: request) else { return }
    guard request.retrieves else { return try await invalidate(by: exchange.head) }
    var outdated: [String] = []
    for variant in selected(try await storage.variants(of: request.target)) {
      if request.method == "HEAD", rules.describes(exchange.head, variant.head),
        rules.mayStay(exchange.head, for: request)
      {
        try await refresh(variant.key, exchange, during: flight)
        continue
      }
      switch rules.supersession(of: variant.head, by: exchange.head, to: request) {
      case .none: break
      case .stale:
        try await change(variant.key, during: flight) { $0.freshUntil = min($0.freshUntil, exchange.responseTime) }
      case .removed: outdated.append(variant.key)
      }
    }
    // What was fetched before a change removes nothing that came after it.
    if !outdated.isEmpty, flight?.isOutdated != true { try await storage.remove(outdated) }
  }

  /// Removes the entries that `head`, the answer to the request, invalidates.
  func invalidate(by head: HTTPResponseHead) async throws(CacheError) {
    let urls = rules.invalidated(by: head, to: request)
    if !urls.isEmpty { try await storage.invalidate(urls) }
  }

  /// RFC 9111, section 4.3.5: a HEAD updates the response that it describes.
  private func refresh(_ key: String, _ exchange: OriginExchange, during flight: FlightTicket?) async throws(CacheError)
  {
    try await change(key, during: flight) { [rules] head in
      var trace = CacheTrace(isRecording: false)
      head = rules.updated(
        head, by: exchange.head, requestTime: exchange.requestTime, responseTime: exchange.responseTime, trace: &trace)
    }
  }

  /// Changes the head of the response under `key`. Nothing is left to change if it is gone or cannot be read, if a
  /// newer response is stored meanwhile, or if `flight` is outdated.
  private func change(
    _ key: String, during flight: FlightTicket?, _ change: (inout StoredHead) -> Void
  ) async throws(CacheError) {
    guard let stored = try await readable(key) else { return }
    var head = stored.head
    change(&head)
    guard head != stored.head else { return }
    do throws(CacheError) {
      let storage = storage.during(flight)
      if try await storage.renew(stored, head: head, replacing: []) { return }
      _ = try await storage.store(
        stored.response.body, head: head, for: request.target, replacing: [], expecting: stored.version)
    } catch {
      if error.code != .conflict { throw error }
    }
  }

  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> HTTPResponse {
    if options.policy == .cacheOnly || options.requiresFresh && decision.isAboutStoredResponse {
      throw .notCached(request.target, decision, options)
    }
    // RFC 9111, section 5.2.1.7: the request itself says only-if-cached.
    return HTTPResponse(
      HTTPResponseHead(status: 504, fields: ["Cache-Status": CacheStatus(decision, cacheName: cacheName).text]))
  }
}

extension CacheError {
  /// The same error, with the URL of `request` in the message instead of `key`.
  fileprivate func naming(_ request: HTTPRequest, not key: String) -> CacheError {
    CacheError(code, message.replacing(key, by: request.target), hint: hint, cause: cause)
  }
}
