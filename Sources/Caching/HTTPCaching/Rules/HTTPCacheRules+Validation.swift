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
    updated.head.fields = merged(stored.head.fields, with: head)
    updated.storedAt = responseTime
    return times(of: updated, from: updated.head, requestTime: requestTime, trace: &trace)
  }

  /// Whether the head of a response to HEAD describes the stored response (section 4.3.5).
  package func describes(_ head: HTTPResponseHead, _ stored: StoredHead) -> Bool {
    head.status == stored.head.status && hasSameSelection(head.fields, stored.head.fields)
      && ["etag", "last-modified", "content-length"].allSatisfy { name in
        head.fields[name].map { $0 == stored.head.fields[name] } ?? true
      }
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
