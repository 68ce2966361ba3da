internal import CacheData
internal import CacheDomain

/// What the three sample origins have in common: every answer carries a validator, and who has it already is told so.
enum SampleAnswer {
  /// `make`'s answer to `request`, unless `conditions` show that the cache has this answer.
  static func to<Request: CacheableRequest, Response: Sendable>(
    _ request: Request, _ conditions: HTTPFields, make: () throws(CacheError) -> Response
  ) throws(CacheError) -> OriginAnswer<Response> {
    if Task.isCancelled { throw .cancelled }
    let fields: HTTPFields = ["etag": "\"\(SampleVersion.validator(of: request))\""]
    if conditions["if-none-match"] == fields["etag"] {
      return OriginAnswer(head: HTTPResponseHead(status: 304, fields: fields), response: nil)
    }
    return OriginAnswer(head: HTTPResponseHead(status: 200, fields: fields), response: try make())
  }
}
