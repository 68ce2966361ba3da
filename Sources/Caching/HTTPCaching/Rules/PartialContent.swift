internal import CacheBase

/// The bytes that a request asks for (RFC 9110, section 14.1.2).
enum ByteRange: Sendable, Hashable {
  /// From one offset to another, inclusive, or to the end.
  case from(Int, through: Int?)
  /// The last bytes of the content, this many.
  case suffix(Int)
  /// Several ranges, which only the origin serves.
  case several

  /// Reads the value of a `Range` field; `nil` if that is malformed, or in another unit (section 14.2: it is ignored).
  init?(_ value: String) {
    guard value.lowercased().hasPrefix("bytes=") else { return nil }
    let members = FieldList.members(String(value.dropFirst(6)))
    if members.count > 1 {
      self = .several
      return
    }
    guard members.count == 1, let dash = members[0].firstIndex(of: "-") else { return nil }
    let (first, last) = (members[0][..<dash], members[0][members[0].index(after: dash)...])
    switch (Digits.number(first), Digits.number(last)) {
    case (let first?, let last?) where first <= last: self = .from(first, through: last)
    case (let first?, nil) where last.isEmpty: self = .from(first, through: nil)
    case (nil, let length?) where first.isEmpty && length > 0: self = .suffix(length)
    default: return nil
    }
  }

  /// The offsets that the one range selects in content of `length` bytes; `nil` if it selects none.
  func offsets(in length: Int) -> Range<Int>? {
    switch self {
    case .from(let first, let last):
      first < length ? first..<min(last.map { $0 < length ? $0 + 1 : length } ?? length, length) : nil
    case .suffix(let count):
      length > 0 ? max(length - count, 0)..<length : nil
    case .several: nil
    }
  }
}

/// The part of the content that a partial response carries (RFC 9110, section 14.4).
struct ContentRange: Sendable, Hashable {
  /// The offsets of the bytes.
  let offsets: Range<Int>
  /// The length of the whole content.
  let length: Int

  init(_ offsets: Range<Int>, of length: Int) {
    self.offsets = offsets
    self.length = length
  }

  /// Reads the value of a `Content-Range` field; `nil` if it is malformed, or the total length is unknown.
  init?(_ value: String) {
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = Digits.number(parts[1]) else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(Digits.number)
    guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, first <= last, last < length else {
      return nil
    }
    self.init(first..<last + 1, of: length)
  }

  /// The position of the part that a response with `head` carries; `nil` if the response is not one part.
  init?(partOf head: HTTP.ResponseHead) {
    guard head.status == 206, let text = head.fields["content-range"] else { return nil }
    self.init(text)
  }

  /// The value of a `Content-Range` field.
  var text: String { "bytes \(offsets.lowerBound)-\(offsets.upperBound - 1)/\(length)" }
}

/// The stored content of a response: all of it, or one part (RFC 9110, section 14; RFC 9111, section 3.3).
package struct PartialContent: Sendable, Hashable {
  /// How stored content serves a request.
  package enum Answer: Sendable, Hashable {
    /// All of it, with the stored head.
    case whole
    /// The bytes at these offsets of the stored content, with their own head (206).
    case part(HTTP.ResponseHead, Range<Int>)
    /// None of it, because the content ends before the range begins (416).
    case unsatisfiable(HTTP.ResponseHead)
    /// The request asks for bytes that are not stored: ask the origin.
    case missing
  }

  /// The stored head.
  let head: HTTP.ResponseHead
  /// Which part of the content is stored.
  let extent: ContentRange

  /// Describes a response with `count` bytes of content. `nil` if their position is unknown: a 206 with several parts,
  /// or with another number of bytes than it says.
  package init?(_ head: HTTP.ResponseHead, count: Int) {
    let extent = head.status == 206 ? ContentRange(partOf: head) : ContentRange(0..<count, of: count)
    guard let extent, extent.offsets.count == count else { return nil }
    self.head = head
    self.extent = extent
  }

  /// Whether the whole content is stored.
  var isComplete: Bool { extent.offsets == 0..<extent.length }

  /// Serves `request`, if its other preconditions hold. A request for several ranges goes to the origin.
  package func answer(to request: HTTP.Request, now: Duration) -> Answer {
    guard let range = range(in: request, now: now) else { return isComplete ? .whole : .missing }
    if range == .several { return .missing }
    guard let offsets = range.offsets(in: extent.length) else { return .unsatisfiable(unsatisfiableHead) }
    return part(offsets)
  }

  /// The offsets in the whole content that `request` asks for; `nil` if it asks for several ranges, or for one that
  /// does not exist.
  func wanted(by request: HTTP.Request, now: Duration) -> Range<Int>? {
    guard let range = range(in: request, now: now) else { return 0..<extent.length }
    return range.offsets(in: extent.length)
  }

  /// The range that `request` asks for; `nil` if it asks for everything, also because its `If-Range` is not about the stored
  /// response (section 13.1.5).
  private func range(in request: HTTP.Request, now: Duration) -> ByteRange? {
    guard request.method == "GET", head.status == 200 || head.status == 206, extent.length > 0,
      let value = request.fields["range"]
    else { return nil }
    if let condition = request.fields["if-range"],
      StrongValidator(head.fields, now: now)?.matches(condition, now: now) != true
    {
      return nil
    }
    return ByteRange(value)
  }

  private func part(_ offsets: Range<Int>) -> Answer {
    let stored = extent.offsets
    guard stored.lowerBound <= offsets.lowerBound, offsets.upperBound <= stored.upperBound else { return .missing }
    if head.status == 206, offsets == stored { return .part(head, 0..<stored.count) }
    let place = offsets.lowerBound - stored.lowerBound..<offsets.upperBound - stored.lowerBound
    var part = head.carrying(ContentRange(offsets, of: extent.length), status: 206)
    part.reason = head.status == 206 ? head.reason : head.reason.map { _ in "Partial Content" }
    return .part(part, place)
  }

  /// The head of the response if no byte of the range exists (section 15.5.17).
  private var unsatisfiableHead: HTTP.ResponseHead {
    var fields = HTTP.Fields(head.fields.lines.filter { HTTP.Fields.isSame($0.name, "date") })
    fields.append("Content-Range", "bytes */\(extent.length)")
    fields.append("Content-Length", "0")
    return HTTP.ResponseHead(status: 416, fields: fields)
  }
}

extension HTTP.ResponseHead {
  /// This head for a response that carries `extent`: with `status`, or else as a 200 if that is everything, and as a 206 if
  /// it is not.
  func carrying(_ extent: ContentRange, status: Int? = nil) -> HTTP.ResponseHead {
    let status = status ?? (extent.offsets.count == extent.length ? 200 : 206)
    var fields = fields
    fields["Content-Range"] = status == 206 ? extent.text : nil
    fields["Content-Length"] = String(extent.offsets.count)
    return HTTP.ResponseHead(version: version, status: status, fields: fields)
  }
}

/// A validator that proves two messages carry exactly the same bytes (RFC 9110, section 8.8.1).
struct StrongValidator: Sendable, Hashable {
  /// Whether it is an entity tag, and not a `Last-Modified` at least one second before `Date` (section 8.8.2.2).
  private let isTag: Bool
  /// The text of its header field.
  let text: String

  /// Reads the strong validator from a response's header fields; `nil` if there is none.
  init?(_ fields: HTTP.Fields, now: Duration) {
    let tag = fields["etag"]
    guard let text = tag ?? fields["last-modified"] else { return nil }
    if let tag {
      guard !EntityTag(tag).isWeak else { return nil }
    } else {
      guard let modified = HTTPDate.time(text, now: now), let date = fields.time("date", now: now),
        modified + .seconds(1) <= date
      else { return nil }
    }
    isTag = tag != nil
    self.text = text
  }

  /// Whether the value of an `If-Range` field names this validator.
  func matches(_ condition: String, now: Duration) -> Bool {
    if isTag { return EntityTag(text).matchesStrongly(EntityTag(condition)) }
    return HTTPDate.time(condition, now: now).map { $0 == HTTPDate.time(text, now: now) } ?? false
  }
}

/// Combining two responses that carry parts of the same content (RFC 9111, section 3.4; RFC 9110, section 15.3.7.3).
extension HTTPCacheRules {
  /// Adds the partial response `new`, which arrived at `now`, to `stored`, whose content is `content`. `nil` if the two
  /// cannot be combined: they do not share a strong validator, or they leave a gap. If they overlap, the new bytes win.
  package func combined(
    _ stored: StoredHead, _ content: [UInt8], with new: HTTP.Response, now: Duration
  ) -> (StoredHead, [UInt8])? {
    guard new.head.status == 206, stored.head.status == 200 || stored.head.status == 206,
      let old = PartialContent(stored.head, count: content.count)?.extent,
      let added = PartialContent(new.head, count: new.body.count)?.extent, old.length == added.length,
      hasSameCoding(stored.head.fields, new.head.fields),
      let validator = StrongValidator(stored.head.fields, now: now),
      validator == StrongValidator(new.head.fields, now: now),
      old.offsets.lowerBound <= added.offsets.upperBound, added.offsets.lowerBound <= old.offsets.upperBound
    else { return nil }
    let first = min(old.offsets.lowerBound, added.offsets.lowerBound)
    let end = max(old.offsets.upperBound, added.offsets.upperBound)
    let before = content.prefix(added.offsets.lowerBound - first)
    let after = content.suffix(end - added.offsets.upperBound)
    var result = updated(stored, by: new.head, requestTime: now, responseTime: now)
    result.head = result.head.carrying(ContentRange(first..<end, of: old.length))
    return (result, before + new.body + after)
  }

  /// Whether `new` is coded as `old` is. A part can leave out fields that the client has (RFC 9110, section 15.3.7).
  private func hasSameCoding(_ old: HTTP.Fields, _ new: HTTP.Fields) -> Bool {
    !new.contains("content-encoding") || new.names(in: "content-encoding") == old.names(in: "content-encoding")
  }
}

/// Asking the origin for the part that a stored response lacks (RFC 9111, section 3.4; RFC 9110, sections 13.1.5 and
/// 14).
extension HTTPCacheRules {
  /// A request for the bytes that `request` asks for and `stored` lacks, conditional on unchanged content. `nil` if
  /// everything must be requested from the origin: without a strong validator, for several ranges, across a gap, or if
  /// the result would have more than `limit` bytes.
  ///
  /// - Parameter count: the number of stored content bytes.
  package func completing(_ request: HTTP.Request, _ stored: StoredHead, count: Int, limit: Int = .max) -> HTTP.Request?
  {
    let now = stored.storedAt
    guard request.method == "GET", stored.head.status == 206, Preconditions(request).isEmpty,
      let part = PartialContent(stored.head, count: count), let wanted = part.wanted(by: request, now: now),
      let missing = Self.missing(wanted, from: part.extent.offsets),
      let validator = StrongValidator(stored.head.fields, now: now),
      max(wanted.upperBound, part.extent.offsets.upperBound) - min(wanted.lowerBound, part.extent.offsets.lowerBound)
        <= limit
    else { return nil }
    var result = request
    let last = missing.upperBound == part.extent.length ? "" : String(missing.upperBound - 1)
    result.fields["Range"] = "bytes=\(missing.lowerBound)-\(last)"
    result.fields["If-Range"] = validator.text
    return result
  }

  /// Joins `stored`, whose content is `content`, with the origin's response to the request for the rest, into a
  /// response that has everything `request` asks for. `nil` if the two do not belong together, or bytes are still
  /// missing.
  package func completed(
    _ stored: StoredHead, _ content: [UInt8], with answer: HTTP.Response, for request: HTTP.Request, now: Duration
  ) -> HTTP.Response? {
    guard let (whole, bytes) = combined(stored, content, with: answer, now: now),
      let part = PartialContent(whole.head, count: bytes.count), part.answer(to: request, now: now) != .missing
    else { return nil }
    return HTTP.Response(whole.head, body: bytes)
  }

  /// Whether `answer` to the request for the rest of `stored` gives, as its status says, the whole content. If not, the
  /// server sent the rest with the wrong status.
  package func isWhole(_ answer: HTTP.Response, insteadOf stored: StoredHead, now: Duration) -> Bool {
    guard (200..<300).contains(answer.head.status) else { return true }
    if answer.head.fields.contains("content-range") { return false }
    guard answer.rest == nil, let length = ContentRange(partOf: stored.head)?.length,
      let validator = StrongValidator(stored.head.fields, now: now)
    else { return true }
    // The same content has the same length.
    return validator != StrongValidator(answer.head.fields, now: now) || answer.body.count == length
  }

  /// The part of `response` that can be kept although its content broke off: the bytes that arrived, as a 206. `nil` if
  /// that part could never be completed.
  package func beginning(of response: HTTP.Response, now: Duration) -> HTTP.Response? {
    let (head, count) = (response.head, response.body.count)
    let announced: ContentRange? =
      switch head.status {
      case 200: head.fields["content-length"].flatMap { Digits.number($0[...]) }.map { ContentRange(0..<$0, of: $0) }
      default: ContentRange(partOf: head)
      }
    guard let announced, 0 < count, count < announced.offsets.count, StrongValidator(head.fields, now: now) != nil
    else { return nil }
    let first = announced.offsets.lowerBound
    return HTTP.Response(
      head.carrying(ContentRange(first..<first + count, of: announced.length)), body: response.body)
  }

  /// The bytes of `wanted` that `stored` lacks, if they form one piece next to it; `nil` if they do not.
  private static func missing(_ wanted: Range<Int>, from stored: Range<Int>) -> Range<Int>? {
    guard wanted.overlaps(stored) else { return nil }
    if stored.lowerBound <= wanted.lowerBound, stored.upperBound < wanted.upperBound {
      return stored.upperBound..<wanted.upperBound
    }
    if wanted.lowerBound < stored.lowerBound, wanted.upperBound <= stored.upperBound {
      return wanted.lowerBound..<stored.lowerBound
    }
    return nil
  }
}
