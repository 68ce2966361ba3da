/// The stored content of a response: all of it, or one part (RFC 9110, section 14; RFC 9111, section 3.3).
package struct PartialContent: Sendable, Hashable {
  /// How stored content answers a request.
  package enum Answer: Sendable, Hashable {
    /// All of it, with the stored head.
    case whole
    /// The bytes at these offsets of the stored content, with a head of their own (206).
    case part(HTTPResponseHead, Range<Int>)
    /// None of it, because the content ends before the range begins (416).
    case unsatisfiable(HTTPResponseHead)
    /// The request asks for bytes that are not stored: ask the origin.
    case missing
  }

  /// The stored head.
  let head: HTTPResponseHead
  /// Which part of the content is stored.
  let extent: ContentRange

  /// Describes a response with `count` bytes of content. `nil` if their position is unknown: a 206 with several parts,
  /// or with another number of bytes than it says.
  package init?(_ head: HTTPResponseHead, count: Int) {
    guard head.status == 206 else {
      self.init(head, ContentRange(0..<count, of: count))
      return
    }
    guard let extent = head.fields["content-range"].flatMap(ContentRange.init), extent.offsets.count == count else {
      return nil
    }
    self.init(head, extent)
  }

  private init(_ head: HTTPResponseHead, _ extent: ContentRange) {
    self.head = head
    self.extent = extent
  }

  /// Whether the whole content is stored.
  var isComplete: Bool { extent.offsets == 0..<extent.length }

  /// Answers `request`, if its other preconditions hold. A request for several ranges goes to the origin.
  package func answer(to request: HTTPRequest, now: Duration) -> Answer {
    let isAboutContent = request.method == "GET" && (head.status == 200 || head.status == 206)
    guard isAboutContent, let value = request.fields["range"], matchesIfRange(request, now: now) else {
      return isComplete ? .whole : .missing
    }
    if ByteRange.isForSeveral(value) { return .missing }
    // Section 14.2: ignore a range that is malformed or in another unit.
    guard let range = ByteRange(value), extent.length > 0 else { return isComplete ? .whole : .missing }
    guard let offsets = range.offsets(in: extent.length) else { return .unsatisfiable(unsatisfiableHead) }
    return part(offsets)
  }

  /// The offsets in the whole content that `request` asks for; `nil` if it asks for several ranges, or for one that
  /// does not exist.
  func wanted(by request: HTTPRequest, now: Duration) -> Range<Int>? {
    guard let value = request.fields["range"], matchesIfRange(request, now: now) else { return 0..<extent.length }
    if ByteRange.isForSeveral(value) { return nil }
    guard let range = ByteRange(value) else { return 0..<extent.length }
    return range.offsets(in: extent.length)
  }

  private func part(_ offsets: Range<Int>) -> Answer {
    let stored = extent.offsets
    guard stored.lowerBound <= offsets.lowerBound, offsets.upperBound <= stored.upperBound else { return .missing }
    if head.status == 206, offsets == stored { return .part(head, 0..<stored.count) }
    var fields = head.fields
    fields["Content-Range"] = ContentRange(offsets, of: extent.length).text
    fields["Content-Length"] = String(offsets.count)
    let place = offsets.lowerBound - stored.lowerBound..<offsets.upperBound - stored.lowerBound
    let reason = head.status == 206 ? head.reason : head.reason.map { _ in "Partial Content" }
    return .part(HTTPResponseHead(version: head.version, status: 206, reason: reason, fields: fields), place)
  }

  /// The head of the answer if no byte of the range exists (section 15.5.17).
  private var unsatisfiableHead: HTTPResponseHead {
    var fields = HTTPFields(head.fields.lines.filter { HTTPFields.isSame($0.name, "date") })
    fields.append("Content-Range", "bytes */\(extent.length)")
    fields.append("Content-Length", "0")
    return HTTPResponseHead(status: 416, fields: fields)
  }

  /// Whether the range applies: always without `If-Range` (section 13.1.5).
  private func matchesIfRange(_ request: HTTPRequest, now: Duration) -> Bool {
    guard let condition = request.fields["if-range"] else { return true }
    return StrongValidator(head.fields, now: now)?.matches(condition, now: now) ?? false
  }
}

/// A validator that proves two messages carry exactly the same bytes (RFC 9110, section 8.8.1).
enum StrongValidator: Sendable, Hashable {
  case entityTag(String)
  /// The text of a `Last-Modified` field that is at least one second before `Date` (section 8.8.2.2).
  case lastModified(String)

  /// Reads the strong validator from a response's header fields; `nil` if there is none.
  init?(_ fields: HTTPFields, now: Duration) {
    if let tag = fields["etag"] {
      guard !EntityTag(tag).isWeak else { return nil }
      self = .entityTag(tag)
      return
    }
    guard let text = fields["last-modified"], let modified = HTTPDate.time(text, now: now),
      let date = fields["date"].flatMap({ HTTPDate.time($0, now: now) }), modified + .seconds(1) <= date
    else { return nil }
    self = .lastModified(text)
  }

  /// The text of its header field.
  var text: String {
    switch self {
    case .entityTag(let text), .lastModified(let text): text
    }
  }

  /// Whether the value of an `If-Range` field names this validator.
  func matches(_ condition: String, now: Duration) -> Bool {
    switch self {
    case .entityTag(let tag): EntityTag(tag).matchesStrongly(EntityTag(condition))
    case .lastModified(let text):
      HTTPDate.time(condition, now: now).map { $0 == HTTPDate.time(text, now: now) } ?? false
    }
  }
}
