import FetchVocabulary
import Foundation
import FoundationNetworking
import HTTPCaching
import TestOrigin
import Testing

@testable import ResponseCacheURLSession

/// Each transfer ends, whatever comes first.
@Suite(.timeLimit(.minutes(10)))
struct SessionTransfersTests {
  @Test func aTransferForACancelledTaskEnds() async throws {
    let server = try TestServer(script: [TestResponse("never").held(by: try TestGate())])
    let transfers = SessionTransfers(.ephemeral, limit: 100)
    let request = URLRequest(url: try #require(URL(string: server.url)))
    for _ in 1...50 {
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        do throws(CacheError) {
          _ = try await transfers.response(to: request)
          return nil as CacheError.Code?
        } catch {
          return error.code
        }
      }
      #expect(await task.value == .cancelled)
    }
  }

  /// Whoever reads it anyway does not take it for empty content.
  @Test(arguments: [true, false]) func contentThatIsTooLargeFails(hasLength: Bool) async throws {
    let large = TestResponse(body: .bytes([UInt8](repeating: 1, count: 200_000)))
    let server = try TestServer { _ in hasLength ? large : large.chunked(1_000) }
    let transfers = SessionTransfers(.ephemeral, limit: 100)
    let response = try await transfers.response(to: URLRequest(url: try #require(URL(string: server.url))))
    #expect(response.head.status == 200 && response.body.isEmpty && (response.rest?.length ?? 0) > 100)
    let error = await #expect(throws: CacheError.self) { try await response.rest?.next() }
    #expect(error?.code == .tooLarge)
  }

  /// A challenge may come before any response: a proxy or the handshake of TLS asks.
  @Test func aChallengeWithoutAResponseEndsTheTransfer() async throws {
    let session = URLSession(configuration: .ephemeral)
    let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1")))
    let space = URLProtectionSpace(host: "127.0.0.1", port: 1, protocol: "http", realm: nil, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
      sender: NoSender())
    let receiver = Receiver(limit: 100)
    let (results, source) = AsyncStream.makeStream(of: Receiver.Result.self)
    receiver.expect(task, source)
    receiver.urlSession(session, task: task, didReceive: challenge) { disposition, _ in
      #expect(disposition == .cancelAuthenticationChallenge)
    }
    var failures: [CacheError.Code?] = []
    for await result in results {
      if case .failure(let error) = result { failures.append(error.code) }
    }
    #expect(failures == [.originUnreachable])
  }

  private final class NoSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }
}
