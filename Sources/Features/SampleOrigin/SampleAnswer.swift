internal import Base
internal import CSampleData
internal import CachedFetching
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

/// The validators of the sample's answers.
enum SampleVersion {
  /// The name of the sample origins.
  static let origin = "sample"

  /// Raise it whenever the program makes a different answer from the same data, such as another overview or another
  /// poster.
  private static let revision = 1

  private static let data = EmbeddedText(csample_version())

  /// The validator of the answer to `request`: it changes with the data, with `revision` and with the request.
  static func validator(of request: some CacheableRequest) -> String {
    let version = data.string(0..<data.count)
    return "sample-\(version)-\(revision)-\(String(fingerprint(of: request), radix: 16))"
  }

  /// The hash of the request's parameters.
  private static func fingerprint(of request: some CacheableRequest) -> UInt64 {
    FNV1a.hash(request.parameters.map { "\($0.name)=\($0.value)\u{0}" }.joined().utf8)
  }
}
