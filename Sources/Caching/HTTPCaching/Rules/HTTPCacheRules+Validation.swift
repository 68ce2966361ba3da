/// Asking the origin whether a stored response still holds, and acting on its answer (RFC 9111, section 4.3).
extension HTTPCacheRules {
  /// Fields that describe how the stored content was sent. A confirmation does not change them (section 3.2).
  private static let contentFields: Set = ["content-length", "content-encoding", "content-range"]

  /// The fields that make a request conditional on `stored`: both validators, if it has both.
  public func conditions(on stored: StoredHead) -> HTTPFields {
    var conditions: HTTPFields = [:]
    if let tag = stored.head.fields["etag"] { conditions.append("If-None-Match", tag) }
    if let date = stored.head.fields["last-modified"] { conditions.append("If-Modified-Since", date) }
    return conditions
  }

  /// Whether a 304 with the head `confirmation` is about `stored` (section 4.3.4): a validator that it names must be
  /// the stored one. A 304 with another `Vary` is not, as the values of the new fields are unknown for `stored`.
  ///
  /// Tags are compared weakly: many servers weaken the tag of a compressed 200, but not in the 304 about it.
  package func confirms(_ confirmation: HTTPResponseHead, _ stored: StoredHead) -> Bool {
    let (news, old) = (confirmation.fields, stored.head.fields)
    guard hasSameSelection(news, old) else { return false }
    if let tag = news["etag"].map(EntityTag.init) {
      return old["etag"].map { EntityTag($0).matchesWeakly(tag) } ?? false
    }
    guard let modified = news["last-modified"] else { return true }
    return old["last-modified"].map { isSameDate($0, modified, now: stored.storedAt) } ?? false
  }

  /// Updates `stored` from the head of a 304 or of a response to HEAD (sections 4.3.4 and 4.3.5).
  public func updated(
    _ stored: StoredHead, by head: HTTPResponseHead, requestTime: Duration, responseTime: Duration,
    trace: inout CacheTrace
  ) -> StoredHead {
    var updated = stored
    updated.head.fields = dated(merged(stored.head.fields, with: head), responseTime)
    updated.storedAt = responseTime
    return times(of: updated, from: updated.head, requestTime: requestTime, trace: &trace)
  }

  /// Whether the head of a response to HEAD describes the stored response (section 4.3.5), of which perhaps only a part
  /// is stored.
  package func describes(_ head: HTTPResponseHead, _ stored: StoredHead) -> Bool {
    let old = stored.head
    let length = ContentRange(partOf: old).map { String($0.length) } ?? old.fields["content-length"]
    return head.status == (old.status == 206 ? 200 : old.status) && hasSameSelection(head.fields, old.fields)
      && hasSameValidators(head.fields, old.fields) && head.fields["content-length"].map { $0 == length } ?? true
  }

  /// Whether each validator that `news` has is the one of `old`.
  private func hasSameValidators(_ news: HTTPFields, _ old: HTTPFields) -> Bool {
    ["etag", "last-modified"].allSatisfy { name in news[name].map { $0 == old[name] } ?? true }
  }

  /// What a response that is not stored does to a stored one.
  package enum Supersession: Sendable, Hashable {
    /// The response says nothing about the stored one.
    case none
    /// The stored response may be outdated: it must not be used as fresh, but while the origin fails, or offline.
    case stale
    /// The stored response is outdated, and must not be used any more.
    case removed
  }

  /// What `response` to `request` does to `stored`, which the request selects, if `response` itself is not stored (RFC
  /// 9111, sections 4.3.3 and 4.3.5).
  ///
  /// A response to GET that gives the resource another content or place, or says that it is gone, removes the stored
  /// one. A status from 400 on that is about the request, or about whoever sent it, and a response to HEAD make it
  /// stale. A failure of the server or a proxy, and a method
  /// that is not allowed, say nothing.
  package func supersession(
    of stored: StoredHead, by response: HTTPResponseHead, to request: HTTPRequest
  ) -> Supersession {
    switch response.status {
    case ..<200, 304, 405, 407, 408, 412, 416, 421, 425, 429, 500...: return .none
    case 206: return supersession(of: stored, byPart: response.fields)
    case 200..<400, 404, 410: return request.method == "HEAD" ? .stale : .removed
    default: return .stale
    }
  }

  /// Part of the content says nothing about the rest, unless it has another validator.
  private func supersession(of stored: StoredHead, byPart part: HTTPFields) -> Supersession {
    guard hasSameValidators(part, stored.head.fields) else { return .removed }
    return part.contains("etag") || part.contains("last-modified") ? .none : .stale
  }

  private func hasSameSelection(_ news: HTTPFields, _ old: HTTPFields) -> Bool {
    news["vary"].map { Set(FieldList.names($0)) == Set(FieldList.names(old["vary"] ?? "")) } ?? true
  }

  private func isSameDate(_ left: String, _ right: String, now: Duration) -> Bool {
    left == right || HTTPDate.time(left, now: now).map { $0 == HTTPDate.time(right, now: now) } ?? false
  }

  /// Keeps the lines of `stored` in order, replaces the ones that `head` also has, and appends the other lines of `head`.
  func merged(_ stored: HTTPFields, with head: HTTPResponseHead) -> HTTPFields {
    // The stored tag belongs to the stored bytes: the 304 may have a strong tag although the compressed 200 had a weak
    // one.
    let kept = stored.contains("etag") ? Self.contentFields.union(["etag"]) : Self.contentFields
    var news = storedFields(head.fields).lines.filter { !kept.contains($0.name.lowercased()) }
    // A message without a date was made when it arrived, and one without an age is new.
    let replaced = Set(news.map { $0.name.lowercased() } + ["date", "age"])
    let lines = stored.lines.flatMap { line in
      guard replaced.contains(line.name.lowercased()) else { return [line] }
      let isSame = { (other: HTTPFields.Field) in HTTPFields.isSame(other.name, line.name) }
      defer { news.removeAll(where: isSame) }
      return news.filter(isSame)
    }
    // Fields that the stored directives exclude stay out, even if the 304 does not repeat those directives.
    return storedFields(HTTPFields(lines + news))
  }
}
