internal import CLazyCurl
public import CacheData
public import CacheDomain
internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Sends requests with Foundation's URLSession, whose own cache, cookies and credentials are switched off, and which
/// follows no redirects.
///
/// What URLSession makes of responses (swift-corelibs-foundation): lines of the same field are joined by a comma, the
/// order of the fields is lost, and names differ in their letters' case from what was sent. A coding of the content
/// that it has undone is taken out of the head.
///
/// Cost: nothing until the first transfer, which loads libcurl.
public final class URLSessionTransferService: DataTransferService {
  private let timeout: Duration
  private let maxResponseBytes: Int
  private let session = Mutex<TransferSession?>(nil)

  /// A service that waits for `timeout` at most for each answer to begin and to go on, for ten times as long for its
  /// end, and takes none longer than `maxResponseBytes`.
  public init(timeout: Duration, maxResponseBytes: Int) {
    self.timeout = timeout
    self.maxResponseBytes = maxResponseBytes
  }

  deinit {
    session.withLock { $0?.invalidate() }
  }

  /// Sends `request` and returns the response once it is whole. Cancelling the task ends the transfer.
  ///
  /// - Throws: `CacheError`: `originUnreachable` where there is no whole response; `invalidAnswer` where it is too long;
  ///   `invalidRequest` where the request cannot be sent; `cancelled`.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let session = try openSession()
    guard let url = URL(string: request.url), url.host != nil else {
      throw CacheError(.invalidRequest, "that is no URL of a web server", hint: "write it as https://example.com/path")
    }
    return try await session.transfer(URLRequest(request, url: url), limit: maxResponseBytes)
  }

  private func openSession() throws(CacheError) -> TransferSession {
    if let reason = lazy_curl_load() {
      throw CacheError(
        .originUnreachable, "the network cannot be used: \(String(cString: reason))",
        hint: "install libcurl, in Debian and Ubuntu with: apt install libcurl4")
    }
    return session.withLock { session in
      if let session { return session }
      let opened = TransferSession(timeout: timeout)
      session = opened
      return opened
    }
  }
}

extension URLRequest {
  fileprivate init(_ request: HTTPRequest, url: URL) {
    self.init(url: url)
    httpMethod = request.method
    for field in request.fields.lines { addValue(field.value, forHTTPHeaderField: field.name) }
    if !request.body.isEmpty { httpBody = Data(request.body) }
  }
}
