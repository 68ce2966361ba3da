/// The preconditions of a client's request, evaluated against a stored response (RFC 9110, section 13; RFC 9111,
/// section 4.3.2).
package struct Preconditions: Sendable, Hashable {
  /// The result of the evaluation.
  package enum Outcome: Sendable, Hashable {
    /// The preconditions hold, or there are none: answer with the stored response.
    case pass
    /// The client already has the stored response: answer with this head, without content.
    case notModified(HTTPResponseHead)
    /// A precondition fails, and only the origin may say so: ask it.
    case forward
  }

  /// The header fields that make a request conditional, in lower case.
  package static let names: Set = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]

  private let fields: HTTPFields
  private let isRead: Bool

  /// Reads the preconditions of `request`.
  package init(_ request: HTTPRequest) {
    fields = HTTPFields(request.fields.lines.filter { Self.names.contains($0.name.lowercased()) })
    isRead = request.retrieves
  }

  /// Whether the request has no preconditions.
  var isEmpty: Bool { fields.lines.isEmpty }

  /// Evaluates the preconditions against `stored`, a response that may be used at `now`.
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
    guard let date = fields["if-unmodified-since"].flatMap({ HTTPDate.time($0, now: now) }) else { return true }
    return Self.lastChange(stored, now: now) <= date
  }

  /// Sections 13.1.2 and 13.1.3: `If-Modified-Since` counts only without `If-None-Match`.
  private func isModified(_ stored: StoredHead, now: Duration) -> Bool {
    if let condition = fields["if-none-match"] {
      return !Self.names(condition, stored) { $0.matchesWeakly($1) }
    }
    guard let date = fields["if-modified-since"].flatMap({ HTTPDate.time($0, now: now) }) else { return true }
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
    let dates = ["last-modified", "date"].lazy.compactMap { stored.head.fields[$0] }
    return dates.compactMap { HTTPDate.time($0, now: now) }.first ?? stored.storedAt
  }

  /// Fields that a 304 does not repeat (section 15.4.5).
  private static let contentFields: Set = [
    "content-type", "content-encoding", "content-language", "content-length", "content-range",
  ]

  private static func notModified(_ head: HTTPResponseHead) -> HTTPResponseHead {
    let omitted = head.fields.contains("etag") ? contentFields.union(["last-modified"]) : contentFields
    let kept = head.fields.lines.filter { !omitted.contains($0.name.lowercased()) }
    return HTTPResponseHead(status: 304, fields: HTTPFields(kept))
  }
}
