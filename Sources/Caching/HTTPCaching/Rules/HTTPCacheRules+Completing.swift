internal import Base

/// Asking the origin for the part that a stored response lacks (RFC 9111, section 3.4; RFC 9110, sections 13.1.5 and
/// 14).
extension HTTPCacheRules {
  /// A request for the bytes that `request` asks for and `stored` lacks, conditional on unchanged content. `nil` if the
  /// origin must be asked for everything: without a strong validator, for several ranges, across a gap, or if the
  /// result would have more than `limit` bytes.
  ///
  /// - Parameter count: the number of stored content bytes.
  package func completing(_ request: HTTPRequest, _ stored: StoredHead, count: Int, limit: Int = .max) -> HTTPRequest? {
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

  /// Joins `stored`, whose content is `content`, with the origin's answer to the request for the rest, into a response
  /// that has everything `request` asks for. `nil` if the two do not belong together, or bytes are still missing.
  package func completed(
    _ stored: StoredHead, _ content: [UInt8], with answer: HTTPResponse, for request: HTTPRequest, now: Duration
  ) -> HTTPResponse? {
    guard let joined = joined(stored.head, content, with: answer, now: now) else { return nil }
    let head = Self.head(
      HTTPResponseHead(
        version: answer.head.version, status: answer.head.status, fields: merged(stored.head.fields, with: answer.head)),
      for: joined.extent)
    guard let part = PartialContent(head, count: joined.bytes.count), part.answer(to: request, now: now) != .missing
    else { return nil }
    return HTTPResponse(head, body: joined.bytes)
  }

  /// Whether `answer` to the request for the rest of `stored` gives, as its status says, the whole content. If not, the
  /// server sent the rest with the wrong status.
  package func isWhole(_ answer: HTTPResponse, insteadOf stored: StoredHead, now: Duration) -> Bool {
    guard (200..<300).contains(answer.head.status) else { return true }
    if answer.head.fields.contains("content-range") { return false }
    guard answer.rest == nil, let length = ContentRange(partOf: stored.head)?.length,
      let validator = StrongValidator(stored.head.fields, now: now)
    else { return true }
    // The same content has the same length.
    return validator != StrongValidator(answer.head.fields, now: now) || answer.body.count == length
  }

  /// The part of `response` that may be kept although its content broke off: the bytes that arrived, as a 206. `nil` if
  /// that part could never be completed.
  package func beginning(of response: HTTPResponse, now: Duration) -> HTTPResponse? {
    let (head, count) = (response.head, response.body.count)
    let announced: ContentRange? =
      switch head.status {
      case 200: head.fields["content-length"].flatMap { Digits.number($0[...]) }.map { ContentRange(0..<$0, of: $0) }
      case 206: head.fields["content-range"].flatMap { ContentRange($0) }
      default: nil
      }
    guard let announced, 0 < count, count < announced.offsets.count, StrongValidator(head.fields, now: now) != nil
    else { return nil }
    let first = announced.offsets.lowerBound
    return HTTPResponse(
      Self.head(head, for: ContentRange(first..<first + count, of: announced.length)), body: response.body)
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
