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

  /// The answer of `base`, decompressed.
  ///
  /// - Throws: `CacheError`: what `base` throws; `invalidAnswer` if the content does not match its coding, or is too
  ///   long.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    if request.fields.contains("range") { return try await base.transfer(request) }
    var asking = request
    if !asking.fields.contains("accept-encoding") {
      asking.fields.append("Accept-Encoding", ContentCoding.accepted)
    }
    var response = try await base.transfer(asking)
    let (codings, rest) = ContentCoding.undoable(response.head.fields["content-encoding"] ?? "")
    guard !response.body.isEmpty || response.rest != nil, !codings.isEmpty else { return response }
    do throws(CacheError) {
      response.body = try await decoded(response, codings, server: request.authority ?? "the server")
      response.rest = nil
    } catch {
      throw error.after(response.head, of: request)
    }
    response.head.fields["content-encoding"] = rest
    response.head.fields["content-length"] = String(response.body.count)
    return response
  }

  private func decoded(
    _ response: HTTPResponse, _ codings: [ContentCoding], server: String
  ) async throws(CacheError) -> [UInt8] {
    let source = StreamedContent(response.body, rest: response.rest)
    let next = DecodedContent.undoing(codings, server: server) { () async throws(CacheError) in try await source.next()
    }
    var content: [UInt8] = []
    while let piece = try await next() {
      content += piece
      guard content.count <= maxResponseBytes else {
        throw CacheError(
          .invalidAnswer, "the answer of \(server) is larger than \(maxResponseBytes) bytes",
          hint: settings.adviceOnSize)
      }
    }
    return content
  }
}
