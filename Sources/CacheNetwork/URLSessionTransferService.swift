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
/// order of the fields is lost, and names differ in their letters' case from what was sent. Codings of content and
/// transfer that it has undone are taken out of the head, and with the former the length of the content.
/// It asks for compressed content where a request says nothing of `Accept-Encoding` and does not ask for a part.
///
/// Cost: nothing until the first transfer, which loads libcurl.
public final class URLSessionTransferService: DataTransferService {
  private let timeout: Duration
  private let maxResponseBytes: Int
  private let session = Mutex<TransferSession?>(nil)

  /// A service that waits for `timeout` at most for the end of each answer, and takes none whose content, with its
  /// coding undone, is longer than `maxResponseBytes`.
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
    let urlRequest = try URLRequest(request)
    return try await openSession().transfer(request, urlRequest)
  }

  private func openSession() throws(CacheError) -> TransferSession {
    if let reason = lazy_curl_load() {
      throw CacheError(
        .originUnreachable, "the network cannot be used: \(String(cString: reason))",
        hint: "install libcurl, in Debian and Ubuntu with: apt install libcurl4")
    }
    return session.withLock { session in
      if let session { return session }
      let opened = TransferSession(timeout: timeout, limit: maxResponseBytes)
      session = opened
      return opened
    }
  }
}
