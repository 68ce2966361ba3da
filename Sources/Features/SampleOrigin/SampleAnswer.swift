internal import CacheData
internal import FetchVocabulary

/// The common part of the three sample origins: every answer has a validator, and a cache that already has the answer
/// learns that it is unchanged.
enum SampleAnswer {
  /// The answer of `make` to `request`, unless `conditions` show that the cache already has it.
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
