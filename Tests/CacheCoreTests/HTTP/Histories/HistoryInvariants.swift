import CacheCore

/// The conditions that every answer must meet, whatever was requested before.
struct HistoryInvariants: Sendable {
  let setting: HistorySetting
  let request: GeneratedRequest
  let now: Duration
  /// What the origin had sent before this request.
  let known: [GeneratedContent]
  /// The results of the requests to the origin, including those in the background afterwards.
  let events: [GeneratedOrigin.Event]

  /// What is wrong with `response`, which comes from the store without a confirmation by the origin.
  func violation(ofStored response: HTTPResponse, _ content: GeneratedContent) -> String? {
    if content.request.url != request.message.url { return "it was given for \(content.request.url)" }
    if isForbidden(content) { return "it was not to be stored" }
    if !selects(content) { return "it was given for other fields" }
    if !content.heads.contains(where: { mayServe($0, content) }) { return "nothing permits to use it now" }
    let ages = content.heads.map { String($0.age(at: now).components.seconds) }
    guard let age = response.head.fields["Age"], ages.contains(age) else {
      return "its Age is \(response.head.fields["Age"] ?? "missing"), not \(ages.joined(separator: " or "))"
    }
    return nil
  }

  /// Whether `content` must never be in the store.
  func isForbidden(_ content: GeneratedContent) -> Bool {
    guard let head = content.heads.first else { return true }
    let mayKeepCredentials = ["public", "must-revalidate", "s-maxage"].contains { head.has($0) }
    return head.forbidsStoring(setting) || content.vary == "*" || content.request.method != "GET"
      || content.request.fields["Cache-Control"] == "no-store"
      || setting.isShared && content.isForCredentials && !mayKeepCredentials
  }

  /// Whether the request selects `content`, if that is stored.
  func selects(_ content: GeneratedContent) -> Bool {
    let names = content.vary.isEmpty ? [] : content.vary.split(separator: ", ").map(String.init)
    // RFC 9111, section 3.5: if a shared cache stores an answer to a request with credentials, it is for all users.
    let isForEverybody = setting.isShared && content.request.fields.contains("Authorization")
    return (names + (isForEverybody ? [] : ["Authorization"])).allSatisfy {
      request.message.fields[$0] == content.request.fields[$0]
    }
  }

  private func mayServe(_ head: GeneratedHead, _ content: GeneratedContent) -> Bool {
    let remaining = head.remaining(at: now, setting)
    let excess = request.maxAge.map { head.age(at: now) - $0 } ?? .zero
    if events.contains(.failed), !head.forbidsStaleness(setting), !request.flags.contains("no-cache"),
      request.maxStale.map({ max(.zero - remaining, excess) <= $0 }) ?? true
    {
      // RFC 5861, section 4: this overrides everything else about freshness.
      if .zero - remaining < head.seconds("stale-if-error") ?? setting.staleIfError { return true }
    }
    if head.has("no-cache") || request.flags.contains("no-cache") { return false }
    if remaining > .zero, excess <= .zero { return remaining >= request.minFresh }
    if head.forbidsStaleness(setting) { return false }
    if let maxStale = request.maxStale, max(.zero - remaining, excess) <= maxStale { return true }
    return request.maxAge == nil && request.maxStale == nil
      && .zero - remaining < head.seconds("stale-while-revalidate") ?? .zero
  }
}
