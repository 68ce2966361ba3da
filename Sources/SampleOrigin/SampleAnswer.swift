internal import CacheData
internal import CacheDomain

/// What the three sample origins have in common: every answer carries a validator, and who has it already is told so.
enum SampleAnswer {
  /// `make`'s answer to `request`, unless the cache's `validator` shows that it has this answer.
  static func to<Request: CacheableRequest, Response: Sendable>(
    _ request: Request, validator: String?, make: () throws(CacheError) -> Response
  ) throws(CacheError) -> OriginAnswer<Response> {
    if Task.isCancelled { throw .cancelled }
    let current = SampleVersion.validator(of: request)
    if validator == current { return .notModified }
    return .modified(try make(), validator: current)
  }
}
