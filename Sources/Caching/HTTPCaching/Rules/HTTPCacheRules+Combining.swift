/// Combining two responses that carry parts of the same content (RFC 9111, section 3.4; RFC 9110, section 15.3.7.3).
extension HTTPCacheRules {
  /// Adds the partial response `new` to `stored`, whose content is `content`. `nil` if the two cannot be combined: they
  /// do not share a strong validator, or they leave a gap.
  package func combined(
    _ stored: StoredHead, _ content: [UInt8], with new: HTTPResponse, requestTime: Duration, responseTime: Duration,
    trace: inout CacheTrace
  ) -> (StoredHead, [UInt8])? {
    guard let joined = joined(stored.head, content, with: new, now: responseTime) else {
      trace.note("combining", "the part does not continue the stored part")
      return nil
    }
    trace.note("combining", "now stored: \(joined.extent.text)")
    var result = updated(
      stored, by: new.head, requestTime: requestTime, responseTime: responseTime, trace: &trace)
    result.head = Self.head(result.head, for: joined.extent)
    return (result, joined.bytes)
  }

  /// The bytes of both responses together, and their position in the whole content; `nil` if they cannot be combined.
  func joined(
    _ head: HTTPResponseHead, _ content: [UInt8], with new: HTTPResponse, now: Duration
  ) -> (extent: ContentRange, bytes: [UInt8])? {
    guard new.head.status == 206, let old = PartialContent(head, count: content.count),
      let added = PartialContent(new.head, count: new.body.count), isSameContent(old, added, now: now),
      let bytes = Self.joined(old.extent, content, added.extent, new.body)
    else { return nil }
    return (Self.union(old.extent, added.extent), bytes)
  }

  private func isSameContent(_ old: PartialContent, _ new: PartialContent, now: Duration) -> Bool {
    guard old.head.status == 200 || old.head.status == 206, old.extent.length == new.extent.length,
      hasSameCoding(old.head.fields, new.head.fields), let validator = StrongValidator(old.head.fields, now: now)
    else { return false }
    return validator == StrongValidator(new.head.fields, now: now)
  }

  /// Whether `new` is coded as `old` is. A part may leave out fields that the client has (RFC 9110, section 15.3.7).
  private func hasSameCoding(_ old: HTTPFields, _ new: HTTPFields) -> Bool {
    guard let coding = new["content-encoding"] else { return true }
    return FieldList.names(coding) == FieldList.names(old["content-encoding"] ?? "")
  }

  /// `head` for a response that carries `extent`: a 200 if that is everything, else a 206.
  static func head(_ head: HTTPResponseHead, for extent: ContentRange) -> HTTPResponseHead {
    let isComplete = extent.offsets.count == extent.length
    var fields = head.fields
    fields["Content-Range"] = isComplete ? nil : extent.text
    fields["Content-Length"] = String(extent.offsets.count)
    return HTTPResponseHead(version: head.version, status: isComplete ? 200 : 206, fields: fields)
  }

  private static func union(_ left: ContentRange, _ right: ContentRange) -> ContentRange {
    let (first, last) = (left.offsets, right.offsets)
    return ContentRange(
      min(first.lowerBound, last.lowerBound)..<max(first.upperBound, last.upperBound), of: left.length)
  }

  /// Joins the bytes of both parts; where they overlap, the new ones win. `nil` if they neither overlap nor touch.
  private static func joined(
    _ old: ContentRange, _ oldBytes: [UInt8], _ new: ContentRange, _ newBytes: [UInt8]
  ) -> [UInt8]? {
    guard old.offsets.lowerBound <= new.offsets.upperBound, new.offsets.lowerBound <= old.offsets.upperBound else {
      return nil
    }
    let before = max(new.offsets.lowerBound - old.offsets.lowerBound, 0)
    let after = max(old.offsets.upperBound - new.offsets.upperBound, 0)
    return oldBytes.prefix(before) + newBytes + oldBytes.suffix(after)
  }
}
