/// Asking the origin whether a stored response still holds, and acting on its response (RFC 9111, section 4.3).
extension HTTPCacheRules {
  /// Fields that describe how the stored content was sent. A confirmation does not change them (section 3.2).
  private static let contentFields: Set = ["content-length", "content-encoding", "content-range"]

  /// The fields that make a request conditional on `stored`: both validators, if it has both.
  public func conditions(on stored: StoredHead) -> HTTP.Fields {
    var conditions: HTTP.Fields = [:]
    if let tag = stored.head.fields["etag"] { conditions.append("If-None-Match", tag) }
    if let date = stored.head.fields["last-modified"] { conditions.append("If-Modified-Since", date) }
    return conditions
  }

  /// Whether a 304 with the head `confirmation` is about `stored` (section 4.3.4): a validator that it names must be
  /// the stored one. A 304 with another `Vary` is not, as the values of the new fields are unknown for `stored`.
  ///
  /// Tags are compared weakly: many servers weaken the tag of a compressed 200, but not in the 304 about it.
  package func confirms(_ confirmation: HTTP.ResponseHead, _ stored: StoredHead) -> Bool {
    let (news, old) = (confirmation.fields, stored.head.fields)
    guard hasSameSelection(news, old) else { return false }
    if let tag = news["etag"].map(EntityTag.init) {
      return old["etag"].map { EntityTag($0).matchesWeakly(tag) } ?? false
    }
    guard let modified = news["last-modified"], modified != old["last-modified"] else { return true }
    let time = news.time("last-modified", now: stored.storedAt)
    return time != nil && time == old.time("last-modified", now: stored.storedAt)
  }

  /// Updates `stored` from the head of a 304 or of a response to HEAD (sections 4.3.4 and 4.3.5).
  public func updated(
    _ stored: StoredHead, by head: HTTP.ResponseHead, requestTime: Duration, responseTime: Duration,
    trace: CacheTrace? = nil
  ) -> StoredHead {
    var updated = stored
    updated.head.fields = dated(merged(stored.head.fields, with: head), responseTime)
    updated.storedAt = responseTime
    return times(of: updated, from: updated.head, requestTime: requestTime, trace: trace)
  }

  /// Whether the head of a response to HEAD describes the stored response (section 4.3.5), of which perhaps only a part
  /// is stored.
  package func describes(_ head: HTTP.ResponseHead, _ stored: StoredHead) -> Bool {
    let old = stored.head
    let length = ContentRange(partOf: old).map { String($0.length) } ?? old.fields["content-length"]
    return head.status == (old.status == 206 ? 200 : old.status) && hasSameSelection(head.fields, old.fields)
      && hasSameValidators(head.fields, old.fields) && head.fields["content-length"].map { $0 == length } ?? true
  }

  /// Whether each validator that `news` has is the one of `old`.
  private func hasSameValidators(_ news: HTTP.Fields, _ old: HTTP.Fields) -> Bool {
    ["etag", "last-modified"].allSatisfy { name in news[name].map { $0 == old[name] } ?? true }
  }

  /// The effect of a response that is not stored on a stored one.
  package enum Supersession: Sendable, Hashable {
    /// The response says nothing about the stored one.
    case none
    /// The stored response might be outdated: it must not be used as fresh, but while the origin fails, or offline.
    case stale
    /// The stored response is outdated, and must not be used any more.
    case removed
  }

  /// The effect of `response` to `request` on `stored`, which the request selects, if `response` itself is not stored
  /// (RFC 9111, sections 4.3.3 and 4.3.5).
  ///
  /// A response to GET that gives the resource another content or place, or says that it is gone, removes the stored
  /// one. A status from 400 on that is about the request, or about whoever sent it, and a response to HEAD make it
  /// stale. A failure of the server or a proxy, and a method
  /// that is not allowed, say nothing.
  package func supersession(
    of stored: StoredHead, by response: HTTP.ResponseHead, to request: HTTP.Request
  ) -> Supersession {
    switch response.status {
    case ..<200, 304, 405, 407, 408, 412, 416, 421, 425, 429, 500...: return .none
    // Part of the content says nothing about the rest, unless it has another validator.
    case 206 where !hasSameValidators(response.fields, stored.head.fields): return .removed
    case 206: return response.fields.hasValidator ? .none : .stale
    case 200..<400, 404, 410: return request.method == "HEAD" ? .stale : .removed
    default: return .stale
    }
  }

  private func hasSameSelection(_ news: HTTP.Fields, _ old: HTTP.Fields) -> Bool {
    !news.contains("vary") || Set(news.names(in: "vary")) == Set(old.names(in: "vary"))
  }

  /// Keeps the lines of `stored` in order, replaces the ones that `head` also has, and appends the other lines of `head`.
  func merged(_ stored: HTTP.Fields, with head: HTTP.ResponseHead) -> HTTP.Fields {
    // The stored tag belongs to the stored bytes: the 304 might have a strong tag although the compressed 200 had a
    // weak one.
    let kept = stored.contains("etag") ? Self.contentFields.union(["etag"]) : Self.contentFields
    var news = storedFields(head.fields).lines.filter { !kept.contains($0.name.lowercased()) }
    // A message without a date was made when it arrived, and one without an age is new.
    let replaced = Set(news.map { $0.name.lowercased() } + ["date", "age"])
    let lines = stored.lines.flatMap { line in
      guard replaced.contains(line.name.lowercased()) else { return [line] }
      let isSame = { (other: HTTP.Fields.Field) in HTTP.Fields.isSame(other.name, line.name) }
      defer { news.removeAll(where: isSame) }
      return news.filter(isSame)
    }
    // Fields that the stored directives exclude stay out, even if the 304 does not repeat those directives.
    return storedFields(HTTP.Fields(lines + news))
  }
}

/// The preconditions of a client's request, evaluated against a stored response (RFC 9110, section 13; RFC 9111,
/// section 4.3.2).
package struct Preconditions: Sendable, Hashable {
  /// The result of the evaluation.
  package enum Outcome: Sendable, Hashable {
    /// The preconditions hold, or there are none: serve the stored response.
    case pass
    /// The client already has the stored response: serve this head, without content.
    case notModified(HTTP.ResponseHead)
    /// A precondition fails, and only the origin can say so: ask it.
    case forward
  }

  /// The header fields that make a request conditional, in lower case.
  package static let names: Set = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]

  private let fields: HTTP.Fields
  private let isRead: Bool

  /// Reads the preconditions of `request`.
  package init(_ request: HTTP.Request) {
    fields = request.fields
    isRead = request.retrieves
  }

  /// Whether the request has no preconditions.
  var isEmpty: Bool { !Self.names.contains(where: fields.contains) }

  /// Evaluates the preconditions against `stored`, a response that can be used at `now`.
  package func outcome(for stored: StoredHead, now: Duration) -> Outcome {
    guard isRead, stored.head.status == 200 || stored.head.status == 206 else { return .pass }
    // A cache does not send a 412 for the origin, but neither does it return a response that fails the condition.
    guard matches(stored, now: now) else { return .forward }
    return isModified(stored, now: now) ? .pass : .notModified(Self.notModified(stored.head))
  }

  /// Sections 13.1.1 and 13.1.4: `If-Unmodified-Since` counts only without `If-Match`.
  private func matches(_ stored: StoredHead, now: Duration) -> Bool {
    if let condition = fields["if-match"] {
      return Self.names(condition, stored) { $0.matchesStrongly($1) }
    }
    guard let date = fields.time("if-unmodified-since", now: now) else { return true }
    return Self.lastChange(stored, now: now) <= date
  }

  /// Sections 13.1.2 and 13.1.3: `If-Modified-Since` counts only without `If-None-Match`.
  private func isModified(_ stored: StoredHead, now: Duration) -> Bool {
    if let condition = fields["if-none-match"] {
      return !Self.names(condition, stored) { $0.matchesWeakly($1) }
    }
    guard let date = fields.time("if-modified-since", now: now) else { return true }
    return Self.lastChange(stored, now: now) > date
  }

  /// Whether a list of entity tags contains the tag of `stored`, compared with `isSame`; `*` stands for any tag.
  private static func names(
    _ condition: String, _ stored: StoredHead, _ isSame: (EntityTag, EntityTag) -> Bool
  ) -> Bool {
    if FieldList.trimmed(condition[...]) == "*" { return true }
    guard let tag = stored.head.fields["etag"].map(EntityTag.init) else { return false }
    return EntityTag.list(condition).contains { isSame($0, tag) }
  }

  /// The last known change of the stored response (RFC 9111, section 4.3.2).
  private static func lastChange(_ stored: StoredHead, now: Duration) -> Duration {
    let fields = stored.head.fields
    return fields.time("last-modified", now: now) ?? fields.time("date", now: now) ?? stored.storedAt
  }

  /// Fields that a 304 does not repeat (section 15.4.5).
  private static let contentFields: Set = [
    "content-type", "content-encoding", "content-language", "content-length", "content-range",
  ]

  private static func notModified(_ head: HTTP.ResponseHead) -> HTTP.ResponseHead {
    let omitted = head.fields.contains("etag") ? contentFields.union(["last-modified"]) : contentFields
    let kept = head.fields.lines.filter { !omitted.contains($0.name.lowercased()) }
    return HTTP.ResponseHead(status: 304, fields: HTTP.Fields(kept))
  }
}
