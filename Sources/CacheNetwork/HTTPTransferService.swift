public import CacheData
public import CacheDomain
internal import Transport

/// Sends requests by `Transport`, and gives the whole responses as they came: lines of the header in order, codings of
/// the content as they are.
///
/// Cost: nothing until the first transfer, which loads libcurl.
public final class HTTPTransferService: DataTransferService {
  private let timeout: Duration
  private let maxResponseBytes: Int
  private let transport: Transport

  /// A service that waits for `timeout` at most for the end of each answer, and takes none whose content is longer than
  /// `maxResponseBytes`. `environment` gives the value of a variable by its name, for proxies and trusted certificates.
  public init(timeout: Duration, maxResponseBytes: Int, environment: @escaping @Sendable (String) -> String?) {
    self.timeout = timeout
    self.maxResponseBytes = maxResponseBytes
    var options = TransportOptions()
    options.totalTimeout = timeout
    transport = Transport(options, environment: environment)
  }

  /// Sends `request` and returns the response once it is whole. Cancelling the task ends the transfer.
  ///
  /// - Throws: `CacheError`: `originUnreachable` where there is no whole response; `invalidAnswer` where it is too long
  ///   or no HTTP; `invalidRequest` where the request cannot be sent; `cancelled`.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    do throws(TransportError) {
      return try await transport.response(to: request, limit: maxResponseBytes)
    } catch {
      throw CacheError(error, timeout: timeout)
    }
  }
}
