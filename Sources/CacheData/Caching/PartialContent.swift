/// What is stored of the content of a response: all of it, or one part (RFC 9110, section 14; RFC 9111, section 3.3).
struct PartialContent: Sendable, Hashable {
  /// What stored content has to say to a request.
  enum Answer: Sendable, Hashable {
    /// All of it answers, under the head that is stored.
    case whole
    /// The bytes with the given offsets in what is stored answer, under a head of their own (206).
    case part(HTTPResponseHead, Range<Int>)
    /// No byte answers, because the content ends before the range begins (416).
    case unsatisfiable(HTTPResponseHead)
    /// Not all that is asked for is stored: the origin is asked.
    case missing
  }

  /// The head that is stored.
  let head: HTTPResponseHead
  /// Which part of the content is stored.
  let extent: ContentRange

  /// What a response with `count` bytes carries; `nil` where the place of the bytes is not known: a 206 with several
  /// parts, or with another number of bytes than it says.
  init?(_ head: HTTPResponseHead, count: Int) {
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

  /// Whether all bytes are stored.
  var isComplete: Bool { extent.offsets == 0..<extent.length }

  /// What `request`, whose other preconditions hold, is answered. A request for several ranges is passed on.
  func answer(to request: HTTPRequest, now: Duration) -> Answer {
    let isAboutContent = request.method == "GET" && (head.status == 200 || head.status == 206)
    guard isAboutContent, let value = request.fields["range"], matchesIfRange(request, now: now) else {
      return isComplete ? .whole : .missing
    }
    if ByteRange.isForSeveral(value) { return .missing }
    // Section 14.2: a range in another unit, or one that cannot be understood, is as good as none.
    guard let range = ByteRange(value), extent.length > 0 else { return isComplete ? .whole : .missing }
    guard let offsets = range.offsets(in: extent.length) else { return .unsatisfiable(unsatisfiableHead) }
    return part(offsets)
  }

  /// The offsets of the bytes that `request` asks for in the whole content; `nil` where it asks for several ranges, or for
  /// none that exist.
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

  /// Section 15.5.17.
  private var unsatisfiableHead: HTTPResponseHead {
    var fields = HTTPFields(head.fields.lines.filter { HTTPFields.isSame($0.name, "date") })
    fields.append("Content-Range", "bytes */\(extent.length)")
    fields.append("Content-Length", "0")
    return HTTPResponseHead(status: 416, fields: fields)
  }

  /// Section 13.1.5: without `If-Range` the range stands for itself.
  private func matchesIfRange(_ request: HTTPRequest, now: Duration) -> Bool {
    guard let condition = request.fields["if-range"] else { return true }
    return StrongValidator(head.fields, now: now)?.matches(condition, now: now) ?? false
  }
}

/// What shows that two messages carry the very same bytes (RFC 9110, section 8.8.1).
enum StrongValidator: Sendable, Hashable {
  case entityTag(String)
  /// The text of a `Last-Modified` field that is a second or more before the `Date` (section 8.8.2.2).
  case lastModified(String)

  /// The strong validator in the header fields of a response; `nil` where there is none.
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

  /// The value of the field that it was found in.
  var text: String {
    switch self {
    case .entityTag(let text), .lastModified(let text): text
    }
  }

  /// Whether the value of an `If-Range` field names it.
  func matches(_ condition: String, now: Duration) -> Bool {
    switch self {
    case .entityTag(let tag): EntityTag(tag).matchesStrongly(EntityTag(condition))
    case .lastModified(let text):
      HTTPDate.time(condition, now: now).map { $0 == HTTPDate.time(text, now: now) } ?? false
    }
  }
}
