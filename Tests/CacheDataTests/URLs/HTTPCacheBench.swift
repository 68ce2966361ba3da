import FetchVocabulary
import Synchronization
@testable import CacheCore
@testable import HTTPCaching

/// An HTTP cache over storage in memory, a fake server and a clock that only the test moves.
final class HTTPCacheBench: Sendable {
  static let url = "http://a.example/x"
  static let freshness = FreshnessPolicy(
    timeToLive: .zero, staleIfError: .seconds(300), staleWhileRevalidate: .zero)

  let storage: ShelfOfResponses
  let transfer: FakeTransfer
  let background = BackgroundWork()
  private let time = Mutex(Duration.seconds(1_000))
  private let explanations = Mutex<[FetchExplanation]>([])

  private let maxContentBytes: Int

  init(
    _ transfer: FakeTransfer, storage: ShelfOfResponses = ShelfOfResponses(), maxContentBytes: Int = .max
  ) {
    self.transfer = transfer
    self.storage = storage
    self.maxContentBytes = maxContentBytes
  }

  func wait(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
  var observed: [FetchExplanation] { explanations.withLock { $0 } }

  func cache(_ transfer: FakeTransfer? = nil) -> HTTPCache {
    let services = FetchServices(
      rules: HTTPCacheRules(freshness: Self.freshness), now: { self.time.withLock { $0 } },
      background: background, observe: { explanation in self.explanations.withLock { $0.append(explanation) } })
    return HTTPCache(
      responses: storage.responses, transfer: transfer ?? self.transfer, services: services,
      maxContentBytes: maxContentBytes)
  }

  func get(
    _ fields: HTTPFields = [:], _ policy: FetchPolicy = .cacheFirst, method: String = "GET",
    url: String = HTTPCacheBench.url, from other: FakeTransfer? = nil, options: FetchOptions? = nil
  ) async throws -> [Snapshot<HTTPResponse>] {
    let request = HTTPRequest(method: method, url: url, fields: fields)
    var snapshots: [Snapshot<HTTPResponse>] = []
    let options = options ?? FetchOptions(policy: policy)
    for try await snapshot in cache(other).responses(to: request, options: options) {
      snapshots.append(snapshot)
    }
    return snapshots
  }
}
