import Foundation
import FoundationNetworking

/// Gathers the response to the one task of a session.
final class CollectingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // What follows is touched on the session's delegate queue, and read after the last call from there.
  private var status: Int?
  private var content = Data()
  private let (ends, source) = AsyncStream.makeStream(of: Result<Void, any Error>.self)

  func end() async -> (Int?, Data, (any Error)?) {
    for await end in ends {
      switch end {
      case .success: return (status, content, nil)
      case .failure(let error): return (status, content, error)
      }
    }
    return (nil, Data(), nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    status = (response as? HTTPURLResponse)?.statusCode
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { content += data }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    source.yield(error.map { .failure($0) } ?? .success(()))
  }

  /// Every challenge is answered by the same credentials.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) }
}
