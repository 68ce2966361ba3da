public import CacheCore
internal import FetchVocabulary
public import HTTPCaching

/// Asks servers for compressed content, and decompresses it: for content that the program reads itself.
///
/// It adds `Accept-Encoding` to requests without one. A decompressed response loses its `Content-Encoding` and has its
/// new length; an unknown coding stays. Range requests and their responses are passed on unchanged: part of compressed
/// content cannot be decompressed.
public struct DecodingTransferService: DataTransferService {
  private let base: any DataTransferService
  private let maxResponseBytes: Int
  private let settings: LimitSettings

  /// Creates a service in front of `base` that returns at most `maxResponseBytes` of content.
  ///
  /// - Parameter settings: the setting of that limit.
  public init(_ base: any DataTransferService, maxResponseBytes: Int, settings: LimitSettings = LimitSettings()) {
    self.base = base
    self.maxResponseBytes = maxResponseBytes
    self.settings = settings
  }

  /// The response of `base`, decompressed.
  ///
  /// - Throws: `CacheError`: what `base` throws; `invalidAnswer` if the content does not match its coding, or is too
  ///   long.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    guard let asking = ContentCoding.accepting(request) else { return try await base.transfer(request) }
    var response = try await base.transfer(asking)
    let (codings, rest) = ContentCoding.undoable(response.head.fields["content-encoding"] ?? "")
    guard !response.body.isEmpty || response.rest != nil, !codings.isEmpty else { return response }
    let pieces = DecodedContent.pieces(of: response, without: codings, to: request)
    let decoded = try await HTTP.Response(response.head, rest: StreamedContent(pieces))
      .gathered(limit: maxResponseBytes, for: request)
    guard decoded.rest == nil else {
      throw .contentTooLarge(response.head, of: request, limit: maxResponseBytes, settings)
    }
    response.body = decoded.body
    response.rest = nil
    response.head.fields["content-encoding"] = rest
    response.head.fields["content-length"] = String(response.body.count)
    return response
  }
}
