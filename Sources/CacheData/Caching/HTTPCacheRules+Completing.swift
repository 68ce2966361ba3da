/// Asking the origin for what a stored response lacks (RFC 9111, section 3.4; RFC 9110, sections 13.1.5 and 14).
extension HTTPCacheRules {
  /// The request for those bytes that `request` asks for and that are missing from `stored`, on the condition that the
  /// content is still the same; `nil` where the origin has to be asked for all of them: without a strong validator, for
  /// several ranges, across a gap, or for a result of more than `limit` bytes.
  ///
  /// - Parameter count: how many bytes of content are stored.
  func completing(_ request: HTTPRequest, _ stored: StoredHead, count: Int, limit: Int = .max) -> HTTPRequest? {
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

  /// What `stored`, whose content is `content`, and the origin's answer to the request for the rest make together: a
  /// response that has all that `request` asks for. `nil` where they do not belong together, or bytes are still missing.
  func completed(
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

  /// What may be kept of `response`, whose content broke off: the part that came, as a 206 describes it. `nil` where it
  /// could never be completed.
  func beginning(of response: HTTPResponse, now: Duration) -> HTTPResponse? {
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

  /// The bytes of `wanted` that are not in `stored`, if they are in one piece that continues it; `nil` if they are not.
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
