@testable import HTTPCaching

/// RFC 9111 in its own order, over values instead of text. Written for these tests, without any code of the rules that
/// they check. Times are seconds since `received`.
struct RFC9111Model: Sendable {
  struct Entry: Sendable {
    var response: ModelResponse
    var requestTime: Int
    var responseTime: Int
    let selecting: [String: String]
    let credentials: String?
  }

  enum Outcome: Sendable { case serve, serveThenRevalidate, revalidate, fetch, fail }

  let isShared: Bool
  /// Whether the heuristic uses Last-Modified rather than the time to live.
  let guessesByLastModified: Bool
  let timeToLive: Int
  let staleWhileRevalidate: Int
  let staleIfError: Int

  /// RFC 9110, section 15.1, of the statuses that the tests use.
  private static let heuristicallyCacheable: Set = [200, 301, 404]
  private static let understood: Set = [200, 301, 302, 404]
  private static let infinity = 2_147_483_648

  func mayStore(_ response: ModelResponse, to request: ModelRequest) -> Bool {
    let control = control(response)
    let isUnderstood = Self.understood.contains(response.status)
    if request.method != "GET" { return false }
    if control["must-understand"], !isUnderstood { return false }
    if control["no-store"], !(control["must-understand"] && isUnderstood) { return false }
    if request.flags.contains("no-store") { return false }
    if isShared, control["private"] { return false }
    if isShared, request.credentials != nil, !isAllowedToEverybody(control) { return false }
    if response.vary.contains("*") { return false }
    return control["public"] || !isShared && control["private"] || hasExpires(response)
      || control.seconds["max-age"] != nil || isShared && control.seconds["s-maxage"] != nil
      || Self.heuristicallyCacheable.contains(response.status)
  }

  /// Section 3.5.
  private func isAllowedToEverybody(_ control: ModelControl) -> Bool {
    control["must-revalidate"] || control["public"] || control.seconds["s-maxage"] != nil
  }

  /// RFC 9213, section 2.2: an empty field counts as none.
  private func isTargeted(_ response: ModelResponse) -> Bool {
    isShared && response.targeted.map { !$0.text.isEmpty } ?? false
  }

  private func control(_ response: ModelResponse) -> ModelControl {
    (isTargeted(response) ? response.targeted : response.control) ?? ModelControl()
  }

  private func hasExpires(_ response: ModelResponse) -> Bool { response.expires != nil && !isTargeted(response) }

  func lifetime(_ entry: Entry) -> Duration {
    let (response, control) = (entry.response, control(entry.response))
    let made = response.date ?? entry.responseTime
    if isShared, let seconds = control.seconds["s-maxage"] { return Self.delta(seconds) }
    if let seconds = control.seconds["max-age"] { return Self.delta(seconds) }
    if let expires = response.expires, hasExpires(response) { return .seconds(max(expires - made, 0)) }
    guard control["public"] || Self.heuristicallyCacheable.contains(response.status) else { return .zero }
    guard guessesByLastModified else { return .seconds(timeToLive) }
    guard let modified = response.lastModified, modified <= made else { return .zero }
    return min(.seconds(made - modified) / 10, .seconds(timeToLive))
  }

  /// `nil` if the clock was set back, because the age is then unknown.
  func currentAge(_ entry: Entry, at now: Int) -> Duration? {
    if entry.responseTime - now > 60 { return nil }
    let apparentAge = max(0, entry.responseTime - (entry.response.date ?? entry.responseTime))
    let ageValue = min(entry.response.age ?? 0, Self.infinity)
    let responseDelay = max(0, entry.responseTime - entry.requestTime)
    let correctedInitialAge = max(apparentAge, ageValue + responseDelay)
    return .seconds(correctedInitialAge + max(0, now - entry.responseTime))
  }

  /// Section 1.2.2: a number that is too large becomes the largest.
  private static func delta(_ seconds: Int) -> Duration { .seconds(min(seconds, infinity)) }

  func matches(_ entry: Entry, _ request: ModelRequest) -> Bool {
    for name in entry.response.vary where entry.selecting[name] != request.selecting[name] { return false }
    // Beyond the RFC: credentials select too, unless a shared cache was allowed to store the response to a request with
    // credentials.
    return isShared && entry.credentials != nil || entry.credentials == request.credentials
  }

  func outcome(_ entry: Entry?, _ request: ModelRequest, at now: Int) -> Outcome {
    guard let entry, ["GET", "HEAD"].contains(request.method) else { return forwarded(.fetch, request) }
    if let served = reuse(entry, request, at: now) { return served }
    let hasValidator = entry.response.tag != nil || entry.response.lastModified != nil
    return forwarded(hasValidator ? .revalidate : .fetch, request)
  }

  /// Section 5.2.1.7.
  private func forwarded(_ outcome: Outcome, _ request: ModelRequest) -> Outcome {
    request.flags.contains("only-if-cached") ? .fail : outcome
  }

  /// The use of the entry without a confirmation; `nil` if it must not be used.
  private func reuse(_ entry: Entry, _ request: ModelRequest, at now: Int) -> Outcome? {
    let lifetime = lifetime(entry)
    if demandsConfirmation(request) { return nil }
    if control(entry.response)["no-cache"] { return nil }
    guard let age = currentAge(entry, at: now) else {
      let acceptsAny = request.flags.contains("max-stale") && request.seconds["max-stale"] == nil
      return acceptsAny && !isStaleForbidden(entry) ? .serve : nil
    }
    let excess = request.seconds["max-age"].map { age - Self.delta($0) } ?? .zero
    let isFresh = lifetime > age
    if isFresh, excess <= .zero {
      return lifetime - age >= Self.delta(request.seconds["min-fresh"] ?? 0) ? .serve : nil
    }
    if !isFresh, isStaleForbidden(entry) { return nil }
    if accepts(request, max(age - lifetime, excess)) { return .serve }
    return isFresh ? nil : whileRevalidating(entry, request, age - lifetime)
  }

  /// Section 5.2.1.2.
  private func accepts(_ request: ModelRequest, _ staleness: Duration) -> Bool {
    if let seconds = request.seconds["max-stale"] { return staleness <= Self.delta(seconds) }
    return request.flags.contains("max-stale")
  }

  /// Section 4.2.4.
  private func isStaleForbidden(_ entry: Entry) -> Bool {
    let control = control(entry.response)
    return control["no-cache"] || control["must-revalidate"]
      || isShared && (control["proxy-revalidate"] || control.seconds["s-maxage"] != nil)
  }

  /// RFC 5861, section 3, for a client that does not ask for a fresh response.
  private func whileRevalidating(_ entry: Entry, _ request: ModelRequest, _ staleness: Duration) -> Outcome? {
    let window = Self.delta(control(entry.response).seconds["stale-while-revalidate"] ?? staleWhileRevalidate)
    let wantsFresh = request.seconds["max-age"] != nil || request.seconds["min-fresh", default: 0] > 0
    guard !wantsFresh, request.seconds["max-stale"] == nil, staleness < window else { return nil }
    return request.flags.contains("only-if-cached") ? .serve : .serveThenRevalidate
  }

  /// RFC 5861, section 4.
  func canServeStale(_ entry: Entry, _ request: ModelRequest, at now: Int) -> Bool {
    let said = request.seconds["stale-if-error"] ?? control(entry.response).seconds["stale-if-error"] ?? staleIfError
    let age = currentAge(entry, at: now)
    let staleness = age.map { $0 - lifetime(entry) } ?? .zero
    return !isStaleForbidden(entry) && !demandsConfirmation(request) && staleness < Self.delta(said)
      && isWithinLimit(request, age, staleness)
  }

  /// Section 5.2.1.4.
  private func demandsConfirmation(_ request: ModelRequest) -> Bool {
    let isControlled = !request.flags.isEmpty || !request.seconds.isEmpty
    return request.flags.contains("no-cache") || request.hasPragma && !isControlled
  }

  /// Section 5.2.1.2: a limit cannot be checked if the age is unknown.
  private func isWithinLimit(_ request: ModelRequest, _ age: Duration?, _ staleness: Duration) -> Bool {
    guard let limit = request.seconds["max-stale"] else { return true }
    guard let age else { return false }
    let excess = request.seconds["max-age"].map { age - Self.delta($0) } ?? .zero
    return max(staleness, excess) <= Self.delta(limit)
  }

  /// The effect of a response that is not stored on a stored one that its request selects: nothing, end its freshness,
  /// or end it (sections 4.3.3 and 4.3.5).
  func supersession(by response: ModelResponse, to request: ModelRequest) -> HTTPCacheRules.Supersession {
    if response.status >= 500 { return .none }
    return request.method == "GET" ? .removed : .stale
  }

  func confirms(_ news: ModelResponse, _ entry: Entry) -> Bool {
    let old = entry.response
    // Beyond the RFC: a 304 with another `Vary` is not used.
    if !news.vary.isEmpty, Set(news.vary) != Set(old.vary) { return false }
    // Beyond the RFC: tags are compared weakly, and a 304 without a validator confirms the response that the request
    // named.
    if let tag = news.tag { return old.tag.map { Self.opaque($0) == Self.opaque(tag) } ?? false }
    return news.lastModified == nil || news.lastModified == old.lastModified
  }

  private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }

  /// Section 3.2.
  func updated(_ entry: Entry, by news: ModelResponse, requestTime: Int, responseTime: Int) -> Entry {
    var entry = entry
    (entry.requestTime, entry.responseTime) = (requestTime, responseTime)
    (entry.response.date, entry.response.age) = (news.date, news.age)
    entry.response.expires = news.expires ?? entry.response.expires
    entry.response.lastModified = news.lastModified ?? entry.response.lastModified
    entry.response.tag = news.tag ?? entry.response.tag
    entry.response.control = news.control ?? entry.response.control
    entry.response.targeted = news.targeted ?? entry.response.targeted
    return entry
  }

  func invalidates(_ response: ModelResponse, _ request: ModelRequest) -> Bool {
    !["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method) && (200..<400).contains(response.status)
  }
}
