/// Deciding what to store, and for how long (RFC 9111, section 3).
extension HTTPCacheRules {
  /// Statuses that this cache understands, as `must-understand` requires.
  private static let understoodStatuses: Set = [
    200, 203, 204, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
  ]

  /// Statuses that are about one request's condition or range, and mean nothing to another request.
  private static let dependentStatuses: Set = [304, 412, 416]

  /// The head to store for the final response `response` to `request`; `nil` if the response must not be stored.
  ///
  /// - Parameters:
  ///   - requestTime: when the request was sent.
  ///   - responseTime: when the head of the response arrived.
  ///   - trace: records the examined criteria; `nil` to record nothing.
  public func stored(
    _ response: HTTP.ResponseHead, for request: HTTP.Request, requestTime: Duration, responseTime: Duration,
    trace: CacheTrace? = nil
  ) -> StoredHead? {
    if let refusal = refusal(to: response, for: request) {
      trace?.note("storing", "not stored: \(refusal)")
      return nil
    }
    guard
      let selector = VariantSelector(
        response: response.fields, request: request, isShared: isShared, key: credentialKey)
    else { return nil }
    var kept = response
    kept.fields = dated(storedFields(response.fields), request.isHTTP ? responseTime : nil)
    return times(
      of: StoredHead(
        head: kept, storedAt: responseTime, freshUntil: responseTime, retainUntil: responseTime, selector: selector),
      from: response, requestTime: requestTime, trace: trace)
  }

  /// `fields` with a `Date`: if there is none, the time at which the response was received (RFC 9110, section 6.6.1).
  ///
  /// - Parameter time: that time; `nil` for a response that did not come over HTTP.
  func dated(_ fields: HTTP.Fields, _ time: Duration?) -> HTTP.Fields {
    guard let time, !fields.contains("date") else { return fields }
    return HTTP.Fields(fields.lines + [HTTP.Fields.Field("Date", HTTPDate.text(time))])
  }

  /// Returns `stored` with the times that follow from `response`, which arrived at `stored.storedAt`.
  func times(
    of stored: StoredHead, from response: HTTP.ResponseHead, requestTime: Duration, trace: CacheTrace? = nil
  ) -> StoredHead {
    var stored = stored
    let now = stored.storedAt
    let lifetime = freshnessLifetime(of: response, receivedAt: now)
    stored.initialAge = initialAge(of: response, requestTime: requestTime, responseTime: now)
    stored.freshUntil = now + lifetime.duration - stored.initialAge
    stored.retainUntil = max(stored.freshUntil, now) + retention(response)
    trace?.note(
      "storing",
      "fresh for \(Self.seconds(lifetime.duration)) by \(lifetime.source), of which "
        + "\(Self.seconds(stored.initialAge)) have passed")
    return stored
  }

  /// How long a response with a validator is kept at least, even if it can never be used stale: confirming it costs
  /// less than sending it again.
  private static let revalidationTime: Duration = .seconds(86_400)

  /// How long after it becomes stale a response can still be of use.
  private func retention(_ response: HTTP.ResponseHead) -> Duration {
    let directives = directives(response)
    return [
      freshness.staleIfError, freshness.staleWhileRevalidate, directives.staleIfError ?? .zero,
      directives.staleWhileRevalidate ?? .zero, response.fields.hasValidator ? Self.revalidationTime : .zero,
    ].reduce(.zero, max)
  }

  /// Why `response` to `request` must not be stored, in a few words; `nil` if it can.
  package func refusal(to response: HTTP.ResponseHead, for request: HTTP.Request) -> String? {
    let directives = directives(response)
    let control = directives.control
    let isUnderstood = control.contains("must-understand") && Self.understoodStatuses.contains(response.status)
    return switch true {
    case request.method != "GET" && !answersGet(response, directives, to: request): "the method is \(request.method)"
    case request.method == "GET" && request.hasContent: "the request has content"
    case !believesServer(of: request): "the identity of the server is not verified"
    case response.status < 200 || Self.dependentStatuses.contains(response.status):
      "the status \(response.status) is about a condition or range of this request alone"
    case response.status == 206 && ContentRange(partOf: response) == nil:
      "it is not a single part of content of a known length"
    case control.contains("must-understand") && !isUnderstood: "must-understand, and the status is not understood"
    case CacheControl(request.fields).contains("no-store"): "the request says no-store"
    case control.contains("no-store") && !isUnderstood: "no-store"
    case directives.isPrivate: "it is private, and the cache is shared"
    case !isAllowed(directives, withCredentials: request.hasCredentials):
      "the request had credentials (\(request.credentialNames.joined(separator: ", "))), and the cache is shared"
    case !directives.hasLifetime && !allowsHeuristics(response) && (isShared || !control.contains("private")):
      "nothing allows storing the status \(response.status)"
    // The HTML standard, section 9.2: such a stream often has no end.
    case response.fields.mediaType == "text/event-stream" && !directives.hasLifetime:
      "it is a stream of events without a lifetime"
    case response.fields.names(in: "vary").contains("*"): "Vary: * matches no other request"
    default: nil
    }
  }

  /// Whether `response` is the response to a POST and is also what a GET would return (RFC 9110, section 9.3.3).
  private func answersGet(
    _ response: HTTP.ResponseHead, _ directives: ResponseDirectives, to request: HTTP.Request
  ) -> Bool {
    let places = response.fields.values(of: "content-location")
    guard request.method == "POST", response.status == 200, places.count == 1 else { return false }
    return directives.hasLifetime
      && named(in: places, by: request).contains { HTTP.Request.isSameURL($0, request.normalized.target) }
  }

  /// Whether a stored response can stay once a confirmation has turned it into `response`.
  package func mayStay(_ response: HTTP.ResponseHead, for request: HTTP.Request) -> Bool {
    // The request's directives about storing apply to the confirmation, not to the response stored earlier.
    var request = request
    request.method = "GET"
    request.fields["cache-control"] = nil
    return refusal(to: response, for: request) == nil
  }

  /// Whether a response to a request with credentials can be stored (section 3.5).
  private func isAllowed(_ directives: ResponseDirectives, withCredentials: Bool) -> Bool {
    !isShared || !withCredentials
      || ["public", "must-revalidate", "s-maxage"].contains { directives.control.contains($0) }
  }

  /// Whether `no-cache` names fields, which need a confirmation at each use, or `private` names fields that a shared
  /// cache can give to one user only (sections 5.2.2.4 and 5.2.2.7).
  package func hasFieldsOfOneUse(_ fields: HTTP.Fields) -> Bool {
    !ResponseDirectives(fields, isShared: isShared).fieldsOfOneUse.isEmpty
  }

  /// Leaves out fields about the connection, fields that need a confirmation at each use, and fields that a shared
  /// cache must not store (section 3.1).
  func storedFields(_ fields: HTTP.Fields) -> HTTP.Fields {
    let omitted = fields.connectionFields.union(ResponseDirectives(fields, isShared: isShared).fieldsOfOneUse)
    return HTTP.Fields(fields.lines.filter { !omitted.contains($0.name.lowercased()) })
  }

  static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}

/// The URLs that a request invalidates by changing its origin (RFC 9111, section 4.4).
extension HTTPCacheRules {
  /// The URLs whose stored responses become invalid when `request` gets `response`: the request's own, and those of the
  /// same origin that the response names.
  public func invalidated(by response: HTTP.ResponseHead, to request: HTTP.Request) -> [String] {
    guard !request.isSafe, (200..<400).contains(response.status) else { return [] }
    let (target, places) = (
      request.target, ["location", "content-location"].flatMap { response.fields.values(of: $0) }
    )
    return named(in: places, by: request).filter { URLReference.isSameOrigin($0, target) }
      .reduce(into: [target]) { urls, url in
        if !urls.contains(where: { HTTP.Request.isSameURL($0, url) }) { urls.append(url) }
      }
  }

  /// The URLs that the values `places` of header fields mean in a response to `request`.
  private func named(in places: [String], by request: HTTP.Request) -> [String] {
    places.compactMap { URLReference.resolve($0, against: request.target, keepingDots: request.keepsDotSegments) }
  }
}
