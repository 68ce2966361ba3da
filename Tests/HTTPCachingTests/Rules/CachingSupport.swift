import FetchVocabulary
public import Testing

@testable public import HTTPCaching

/// Sat, 21 Nov 2026 10:00:00 GMT: when the stored response was received, unless a test says otherwise.
let received: Duration = .seconds(1_795_255_200)

/// The text of the time `seconds` after `received`.
func date(_ seconds: Int = 0) -> String { HTTPDate.text(received + .seconds(seconds)) }

extension HTTPCacheRules {
  /// Rules with durations in seconds.
  static func testing(
    isShared: Bool = false, timeToLive: Int = 0, staleIfError: Int = 0, staleWhileRevalidate: Int = 0
  ) -> HTTPCacheRules {
    HTTPCacheRules(
      isShared: isShared,
      freshness: FreshnessPolicy(
        timeToLive: .seconds(timeToLive), staleIfError: .seconds(staleIfError),
        staleWhileRevalidate: .seconds(staleWhileRevalidate)))
  }

  /// The head stored for a response that was sent and received at once.
  func stored(
    _ fields: HTTP.Fields, status: Int = 200, for request: HTTP.Fields = [:], method: String = "GET",
    at time: Duration = received
  ) -> StoredHead? {
    return stored(
      HTTP.ResponseHead(status: status, fields: fields), for: .testing(request, method: method), requestTime: time,
      responseTime: time)
  }

  /// The decision `seconds` after `received`.
  func decision(
    _ stored: StoredHead?, for request: HTTP.Fields = [:], after seconds: Int, method: String = "GET",
    options: FetchOptions = FetchOptions()
  ) -> CacheDecision {
    return decision(
      for: .testing(request, method: method), stored: stored, options: options, now: received + .seconds(seconds))
  }
}

extension VariantSelector {
  /// Whether the response may be served for `request`, with the key of the process.
  func selects(_ request: HTTP.Request) -> Bool {
    VariantSelector(names: names, request: request, key: .ofProcess) == self
  }
}

extension HTTP.Request {
  static func testing(_ fields: HTTP.Fields = [:], method: String = "GET") -> HTTP.Request {
    HTTP.Request(method: method, url: "http://example.com/x", fields: fields)
  }
}

extension HTTP.Fields {
  /// All lines in one, to describe a case.
  var text: String { lines.map { "\($0.name): \($0.value)" }.joined(separator: " | ") }
}

extension HTTP.Fields: CustomTestStringConvertible {
  /// All lines in one.
  public var testDescription: String { "[\(text)]" }
}
