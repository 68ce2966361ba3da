internal import EngineAPI

/// A request for a URL, which can have several entries, partial content, and methods that change the origin.
struct URLTarget: FetchTarget {
  let request: HTTP.Request
  let cache: HTTPCache

  private var rules: HTTPCacheRules { cache.services.rules }
  private func now() -> Duration { cache.services.now() }

  var origin: String { URLReference.host(of: request.url) ?? request.url }

  // MARK: Look up

  func message() throws(CacheError) -> HTTP.Request {
    guard request.hasValidHost else {
      throw CacheError(
        .invalidRequest, "the header field Host does not name one server",
        hint: "write it once, as example.com or example.com:8080")
    }
    return request
  }

  func key() throws(CacheError) -> String { try URLResponses.key(of: request.target).text }

  func coalescingKey() throws(CacheError) -> String? {
    // The failure of a server without proof of its identity is not shared with other callers.
    guard request.retrieves, rules.believesServer(of: request) else { return nil }
    var text = request.fields.lines.map { "\($0.name.lowercased()):\($0.value)\n" }.joined()
    text += "\n\(rules.party(of: request))"
    return "\(try key()) \(request.method)/\(rules.fingerprint(text, of: request))"
  }

  func lookUp(isCounted: Bool) async throws(CacheError) -> Lookup<HTTP.Response> {
    guard request.retrieves else { return Lookup(missing: .method) }
    try rules.requireCredentialKey(for: request)
    let lookup = try await usable()
    if isCounted { cache.stored.countLookUp(lookup.found?.key, of: request.target) }
    return lookup
  }

  private func usable() async throws(CacheError) -> Lookup<HTTP.Response> {
    let (latest, hasOthers) = try await cache.stored.latest(of: request.target, where: select)
    guard let found = latest else { return Lookup(missing: hasOthers ? .varyMiss : .uriMiss) }
    let now = found.head.storedAt
    guard let content = PartialContent(found.head.head, count: found.response.body.count),
      content.answer(to: request, now: now) != .missing
    else { return Lookup(missing: .partial, part: found) }
    // Only the origin can evaluate these preconditions.
    if Preconditions(request).outcome(for: found.head, now: now) == .forward { return Lookup(missing: .request) }
    return Lookup(found: found)
  }

  /// Chooses the responses that the request selects.
  private var select: URLResponses.Selection { { [rules, request] in rules.selected($0, by: request) } }

  private func variants() async throws(CacheError) -> StoredVariants {
    try await cache.stored.variants(of: request.target, where: select)
  }

  // MARK: Request

  func request(
    _ conditions: HTTP.Fields, completing part: StoredResponse<HTTP.Response>?, _ token: CoalescingToken?
  ) async throws(CacheError) -> OriginAnswer<HTTP.Response> {
    if let part, let answer = try await requestRest(of: part, token) { return answer }
    var conditional = request
    if !conditions.lines.isEmpty {
      let kept = request.fields.lines.filter { !Preconditions.names.contains($0.name.lowercased()) }
      conditional.fields = HTTP.Fields(kept + conditions.lines)
    }
    let response = try await send(conditional, token)
    // Without a condition a 304 confirms nothing, and is an error.
    let isConfirmation =
      response.head.status == 304 && request.retrieves
      && (!conditions.lines.isEmpty || !Self.confirmable.contains(where: conditional.fields.contains))
    return OriginAnswer(head: response.head, response: isConfirmation ? nil : response)
  }

  /// The conditions that a 304 answers (RFC 9110, section 15.4.5).
  private static let confirmable = ["if-none-match", "if-modified-since"]

  /// Requests the rest of `part`, and joins the two. `nil` if everything must be requested: `part` cannot be completed, or
  /// the response does not continue it.
  private func requestRest(
    of part: StoredResponse<HTTP.Response>, _ token: CoalescingToken?
  ) async throws(CacheError) -> OriginAnswer<HTTP.Response>? {
    let (stored, content) = (part.head, part.response.body)
    // Do not complete a response that must not be stored: the client would get bytes that it did not ask for.
    guard rules.believesServer(of: request), !CacheControl(request.fields).contains("no-store"),
      let rest = rules.completing(request, stored, count: content.count, limit: cache.maxContentBytes)
    else { return nil }
    let requestTime = now()
    let answer = try await gathered(try await send(rest, token), requestTime, token)
    switch answer.head.status {
    case 206:
      guard answer.rest == nil,
        let whole = rules.completed(stored, content, with: answer, for: request, now: now()),
        rules.mayStay(whole.head, for: request)
      else { return nil }
      return OriginAnswer(head: whole.head, response: whole, status: 206)
    // The content has changed and the server did not compare the validator, or it took the validator for another
    // condition.
    case 304, 412, 416: return nil
    // The rest, with the status of the whole, would pass for the whole.
    case _ where !rules.isWhole(answer, insteadOf: stored, now: now()): return nil
    default: return OriginAnswer(head: answer.head, response: answer)
    }
  }

  private func send(_ request: HTTP.Request, _ token: CoalescingToken?) async throws(CacheError) -> HTTP.Response {
    let requestTime = now()
    do throws(CacheError) {
      return try await cache.transfer.transfer(request)
    } catch {
      throw await failure(error, requestTime, token)
    }
  }

  /// The failure that callers get of a response that broke off with `error`. Stores the part that arrived, or removes what
  /// an unsafe request invalidates: for that the status decides (RFC 9111, section 4.4).
  private func failure(_ error: CacheError, _ requestTime: Duration, _ token: CoalescingToken?) async -> CacheError {
    guard let incomplete = error.cause as? IncompleteResponse else { return error }
    var (message, hint) = (error.message, error.hint)
    do throws(CacheError) {
      if !request.isSafe {
        if rules.believesServer(of: request) { try await invalidate(by: incomplete.response.head) }
      } else if try await storeBeginning(of: incomplete.response, requestTime: requestTime, token) {
        hint =
          "\(hint.isEmpty ? "" : "\(hint): ")the cache kept what arrived, and the next fetch requests only the rest"
      }
    } catch {
      let purpose = request.isSafe ? "keep what came" : "remove what the request changed"
      if error.code != .conflict { message += "; and the cache could not \(purpose): \(error.message)" }
    }
    return CacheError(error.code, message, hint: hint, cause: incomplete.cause ?? OriginFailure(hasBrokenOff: true))
  }

  func gathered(
    _ response: HTTP.Response, _ exchange: OriginExchange, _ token: CoalescingToken?
  ) async throws(CacheError) -> HTTP.Response { try await gathered(response, exchange.requestTime, token) }

  private func gathered(
    _ response: HTTP.Response, _ requestTime: Duration, _ token: CoalescingToken?
  ) async throws(CacheError) -> HTTP.Response {
    do throws(CacheError) {
      return try await response.gathered(limit: cache.maxContentBytes, for: request)
    } catch {
      throw await failure(error, requestTime, token)
    }
  }

  /// A storable response to GET is delivered while it arrives, unless the client might get something else than the origin
  /// sent, or a failure could still lead to a stale response: only a complete response can be told from a broken one. The
  /// events of a stream do not wait for its end.
  func arriving(
    _ response: HTTP.Response, _ head: StoredHead, _ exchange: OriginExchange, isReplaceable: Bool,
    _ token: CoalescingToken?,
    settle: @escaping @Sendable (Result<HTTP.Response, CacheError>) async -> Void
  ) -> ArrivingResponse<HTTP.Response>? {
    guard let rest = response.rest, request.method == "GET", (200..<300).contains(head.head.status),
      head.head.status != 206, head.retainUntil > head.storedAt,
      !isReplaceable || head.head.fields.mediaType == "text/event-stream",
      response.body.count + (rest.length ?? 0) <= cache.maxContentBytes, !request.fields.contains("range"),
      !Preconditions.names.contains(where: request.fields.contains),
      let key = try? key()
    else { return nil }
    var start = response
    start.body = []
    start.rest = nil
    // The closure must not hold the content that still arrives.
    let broadcast = ResponseBroadcast(response, limit: cache.maxContentBytes, background: cache.services.background) {
      [start] outcome in
      var response = start
      switch outcome {
      case .complete(let body):
        response.body = body
        await settle(.success(response))
        return nil
      case .tooLarge:
        await settle(.failure(.tooLargeToStore))
        return nil
      case .brokenOff(let body, let error):
        response.body = body
        let incomplete = CacheError(
          error.code, error.message, hint: error.hint, cause: IncompleteResponse(response, cause: error.cause))
        let hasBrokenOff = error.code == .originUnreachable
        let failure = await failure(hasBrokenOff ? incomplete : error, exchange.requestTime, token)
        await settle(.failure(failure))
        return failure
      }
    }
    return ArrivingResponse(
      key: key, isShareable: isShareable(start, head), start: start,
      forCaller: { [start] in
        guard let rest = broadcast.reader() else { return nil }
        var response = start
        response.rest = rest
        return response
      }, continueWithoutReaders: broadcast.continueWithoutReaders)
  }

  /// Stores the part that arrived, if it can be completed, and returns whether it did.
  private func storeBeginning(
    of response: HTTP.Response, requestTime: Duration, _ token: CoalescingToken?
  ) async throws(CacheError) -> Bool {
    let responseTime = now()
    guard request.method == "GET", let beginning = rules.beginning(of: response, now: responseTime),
      let head = rules.stored(
        beginning.head, for: request, requestTime: requestTime, responseTime: responseTime),
      // A complete stored response can still be served if the origin fails, and a part cannot.
      !(try await variants()).selected.contains(where: { $0.head.head.status != 206 })
    else { return false }
    // The request ends with a failure, which its lease must report.
    _ = try await store(beginning, head, confirming: nil, token, endsLease: false)
    return true
  }

  // MARK: Store

  func store(
    _ response: HTTP.Response, _ head: StoredHead, confirming base: StoredResponse<HTTP.Response>?,
    _ token: CoalescingToken?
  ) async throws(CacheError) -> String {
    // A response fetched before a change must not remove entries that came after it.
    if head.retainUntil <= head.storedAt, token?.isOutdated == true { return try key() }
    return try await store(response, head, confirming: base, token, endsLease: true)
  }

  private func store(
    _ response: HTTP.Response, _ head: StoredHead, confirming base: StoredResponse<HTTP.Response>?,
    _ token: CoalescingToken?, endsLease: Bool
  ) async throws(CacheError) -> String {
    try rules.requireCredentialKey(for: request)
    let variants = try await variants()
    guard head.retainUntil > head.storedAt else {
      if !variants.selected.isEmpty { try await cache.stored.remove(variants.selected.map(\.key)) }
      return try key()
    }
    guard response.rest == nil, response.body.count <= cache.maxContentBytes else { throw .tooLargeToStore }
    // A response that took long does not replace one that was received after it. One from the future, by a clock that
    // was set, is not newer.
    let isNewer = { (stored: StoredHead) in
      stored.head.status != 206 && head.storedAt < stored.storedAt && stored.storedAt <= now()
    }
    if variants.selected.contains(where: { isNewer($0.head) }) {
      throw CacheError(.conflict, "a newer response of \(request.target) is stored")
    }
    let confirmed = base?.head.selector == head.selector ? base : nil
    let new = confirmed == nil ? try await combined(response, head, with: variants.selected) : (head, response.body)
    guard let (head, body) = new else { return try key() }
    return try await cache.stored.store(
      body, head: head, for: request.target, among: variants, confirming: confirmed, token: token, endsLease: endsLease,
      where: select)
  }

  /// The head and content to store for `response`. A part is joined with the stored part if they belong together and the
  /// result is not too large. `nil` if it is unclear which part of the content `response` has.
  private func combined(
    _ response: HTTP.Response, _ head: StoredHead, with variants: [StoredVariant]
  ) async throws(CacheError) -> (StoredHead, [UInt8])? {
    guard head.head.status == 206 else { return (head, response.body) }
    guard PartialContent(head.head, count: response.body.count) != nil else { return nil }
    for variant in variants {
      guard let stored = try await readable(variant.key) else { continue }
      let joined = rules.combined(stored.head, stored.response.body, with: response, now: head.storedAt)
      if let joined, joined.1.count <= cache.maxContentBytes { return joined }
    }
    return (head, response.body)
  }

  /// The stored response under `key`; `nil` if it is gone or cannot be read.
  private func readable(_ key: String) async throws(CacheError) -> StoredResponse<HTTP.Response>? {
    try await ifReadable { () async throws(CacheError) in try await cache.stored.response(under: key) }
  }

  /// RFC 9111, section 4: a response is used for other requests only if it can be reused for them without validation.
  func isShareable(_ response: HTTP.Response, _ head: StoredHead) -> Bool {
    let decision = rules.decision(
      for: request, stored: head, options: FetchOptions(), now: head.storedAt)
    // Content that still arrives can be read once, and some fields are for one reader alone.
    return response.rest == nil && decision.action == .serve && !rules.hasFieldsOfOneUse(response.head.fields)
  }

  func applySideEffects(_ exchange: OriginExchange, _ token: CoalescingToken?) async throws(CacheError) {
    guard rules.believesServer(of: request) else { return }
    guard request.retrieves else { return try await invalidate(by: exchange.head) }
    var outdated: [String] = []
    for variant in try await variants().selected {
      if request.method == "HEAD", rules.describes(exchange.head, variant.head),
        rules.mayStay(exchange.head, for: request)
      {
        // RFC 9111, section 4.3.5: a HEAD updates the response that it describes.
        try await change(variant.key, token) { head in
          head = rules.updated(
            head, by: exchange.head, requestTime: exchange.requestTime, responseTime: exchange.responseTime)
        }
        continue
      }
      switch rules.supersession(of: variant.head, by: exchange.head, to: request) {
      case .none: break
      case .stale:
        try await change(variant.key, token) { $0.freshUntil = min($0.freshUntil, exchange.responseTime) }
      case .removed: outdated.append(variant.key)
      }
    }
    // A response fetched before a change must not remove entries that came after it.
    if !outdated.isEmpty, token?.isOutdated != true { try await cache.stored.remove(outdated) }
  }

  /// Removes the entries that `head`, the response to the request, invalidates.
  func invalidate(by head: HTTP.ResponseHead) async throws(CacheError) {
    let urls = rules.invalidated(by: head, to: request)
    if !urls.isEmpty { try await cache.stored.invalidate(urls) }
  }

  /// Changes the head of the response under `key`. Nothing is left to change if it is gone or cannot be read, if a
  /// newer response is stored meanwhile, or if the request of `token` is outdated.
  private func change(
    _ key: String, _ token: CoalescingToken?, _ change: (inout StoredHead) -> Void
  ) async throws(CacheError) {
    guard let stored = try await readable(key) else { return }
    var head = stored.head
    change(&head)
    guard head != stored.head else { return }
    do throws(CacheError) {
      _ = try await cache.stored.store(
        stored.response.body, head: head, for: request.target, confirming: stored, token: token, endsLease: false)
    } catch {
      if error.code != .conflict { throw error }
    }
  }

  // MARK: Deliver

  /// The client gets all of the response, the part that it asked for, or a 304 if it has the response already.
  func value(_ delivery: Delivery<HTTP.Response>) -> HTTP.Response {
    var response = tailored(delivery)
    response.interim = delivery.response.interim
    var status = CacheStatus(delivery.decision, cacheName: cache.name)
    status.isHit = delivery.isFromCache && delivery.forwardStatus == nil && delivery.failure == nil
    status.forwardStatus = delivery.forwardStatus ?? delivery.failure?.status
    status.isStored = delivery.stored != nil && delivery.isKept && delivery.forwardStatus != nil
    status.isCollapsed = delivery.isCollapsed
    status.timeToLive = delivery.stored.flatMap { $0.remainingFreshness(at: delivery.now) }
    // A response to another caller's request can have been received before this caller's began.
    if let stored = delivery.stored, delivery.isFromCache || delivery.isCollapsed {
      // A response of unknown age is at least as old as on arrival.
      let age = stored.age(at: delivery.now) ?? stored.initialAge
      response.head.fields["Age"] = String(max(age, .zero).components.seconds)
    }
    response.head.fields.append("Cache-Status", status.text)
    return response
  }

  private func tailored(_ delivery: Delivery<HTTP.Response>) -> HTTP.Response {
    guard delivery.response.rest == nil, let head = usableHead(delivery) else { return delivery.response }
    let body = delivery.response.body
    if case .notModified(let head) = Preconditions(request).outcome(for: head, now: delivery.now) {
      return HTTP.Response(head)
    }
    if request.method == "HEAD" { return HTTP.Response(head.head) }
    return switch PartialContent(head.head, count: body.count)?.answer(to: request, now: delivery.now) {
    case .part(let head, let place): HTTP.Response(head, body: Array(body[place]))
    case .unsatisfiable(let head): HTTP.Response(head)
    case .whole, .missing, nil: whole(head.head, delivery.response)
    }
  }

  private func whole(_ head: HTTP.ResponseHead, _ original: HTTP.Response) -> HTTP.Response {
    var response = original
    response.head = head
    return response
  }

  /// The head to respond with; `nil` if the client gets the response unchanged.
  private func usableHead(_ delivery: Delivery<HTTP.Response>) -> StoredHead? {
    guard var head = delivery.stored, request.retrieves else { return nil }
    guard delivery.isFromCache else {
      head.head = delivery.response.head
      return head
    }
    if delivery.forwardStatus == nil {
      // RFC 9111, section 5.2.2.4: fields named by no-cache must not be used without a confirmation.
      let omitted = Set(rules.directives(head.head).fieldsWithRevalidation)
      head.head.fields = HTTP.Fields(head.head.fields.lines.filter { !omitted.contains($0.name.lowercased()) })
    }
    return head
  }

  func refusal(_ decision: CacheDecision, _ options: FetchOptions) throws(CacheError) -> HTTP.Response {
    if options.policy == .cacheOnly || options.requiresFresh && decision.isAboutStoredResponse {
      throw .notCached(request.target, decision, options)
    }
    // RFC 9111, section 5.2.1.7: the request itself says only-if-cached.
    return HTTP.Response(
      HTTP.ResponseHead(status: 504, fields: ["Cache-Status": CacheStatus(decision, cacheName: cache.name).text]))
  }
}

extension CacheError {
  fileprivate static var tooLargeToStore: CacheError {
    CacheError(.tooLarge, "the response is too large to be kept", hint: "raise cache.maxEntryBytes")
  }
}
