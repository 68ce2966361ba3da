import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import FoundationNetworking
import MemoryStorage
import ResponseCache
import ResponseCacheURLSession
import Synchronization
import TestOrigin
import Testing

/// A session over a cache in memory, with a hand on the clock.
struct Bench {
  /// It stays at the present time of day, in whole seconds, because servers date their responses in seconds.
  let clock = ManualClock(Timestamp(milliseconds: Int64(Date().timeIntervalSince1970) * 1_000))
  let cache: Cache
  let maxEntryBytes: Int
  let warnings = Notes()
  let events = Notes()

  init(maxEntryBytes: Int = 16 << 20) async throws {
    let (warnings, events) = (warnings, events)
    cache = try await Cache(
      .memory, clock: clock, warn: { warnings.add("\($0.error.code.rawValue)") },
      observe: { events.add("\($0.resource) \($0.outcome)") })
    self.maxEntryBytes = maxEntryBytes
  }

  func wait(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

  /// A session whose settings `change` makes, with the cache below it.
  func session(
    delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    // However long a busy machine holds a test up.
    configuration.timeoutIntervalForRequest = 1_800
    change(configuration)
    return URLSession(
      configuration: configuration.cached(by: cache, maxEntryBytes: maxEntryBytes), delegate: delegate,
      delegateQueue: nil)
  }

  /// Texts about warnings or events.
  final class Notes: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
  }
}

/// The outcome of a task.
struct Answer: Sendable {
  let status: Int
  let text: String
  let fields: [String: String]
  let url: String

  init(_ data: Data, _ response: URLResponse) {
    let response = response as? HTTPURLResponse
    status = response?.statusCode ?? 0
    text = String(decoding: data, as: UTF8.self)
    url = response?.url?.absoluteString ?? ""
    let lines = (response?.allHeaderFields ?? [:]).map { ("\($0.key)".lowercased(), "\($0.value)") }
    fields = Dictionary(lines, uniquingKeysWith: { $1 })
  }

  /// Only the first words of the field count.
  var isHit: Bool { fields["cache-status"]?.hasPrefix("ResponseCache; hit") == true }
}

extension URLSession {
  func get(
    _ url: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy, method: String = "GET",
    fields: [String: String] = [:], content: Data? = nil
  ) async throws -> Answer {
    var request = URLRequest(url: try #require(URL(string: url)), cachePolicy: policy)
    request.httpMethod = method
    request.httpBody = content
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await data(for: request)
    return Answer(data, response)
  }

  /// Gives the server at `url` the cookie `who` with this value; with `nil` none.
  func setCookie(_ who: String?, for url: String) throws {
    let storage = try #require(configuration.httpCookieStorage)
    for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
    guard let who else { return }
    let host = try #require(URL(string: url)?.host)
    storage.setCookie(try #require(HTTPCookie(properties: [.name: "who", .value: who, .path: "/", .domain: host])))
  }

  /// The failure of a request; `nil` if it has none, or is none of `URLSession`.
  func failure(_ url: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy) async -> URLError.Code? {
    do {
      _ = try await get(url, policy)
      return nil
    } catch { return (error as? URLError)?.code }
  }
}

/// Gathers the response to the one task of a session.
final class CollectingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // The session's delegate queue writes these properties. The test reads them after the last call there.
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

  /// The same credentials are used for every challenge.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) }
}
