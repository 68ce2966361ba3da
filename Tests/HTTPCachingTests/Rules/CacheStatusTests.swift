import FetchVocabulary
import Testing

@testable import HTTPCaching

/// RFC 9211.
struct CacheStatusTests {
  private static func status(
    _ action: CacheDecision.Action, _ reason: CacheDecision.ForwardReason? = nil,
    _ change: (inout CacheStatus) -> Void = { _ in }
  ) -> String {
    var status = CacheStatus(CacheDecision(action, "why", forward: reason), cacheName: "cachectl")
    change(&status)
    return status.text
  }

  @Test func saysHowTheResponseWasObtained() {
    #expect(Self.status(.serve) == "cachectl; hit")
    #expect(Self.status(.serveThenRevalidate) == "cachectl; hit")
    #expect(Self.status(.fetch, .uriMiss) == "cachectl; fwd=uri-miss")
    #expect(Self.status(.fetch, .varyMiss) == "cachectl; fwd=vary-miss")
    #expect(Self.status(.fetch, .method) == "cachectl; fwd=method")
    #expect(Self.status(.fetch, .bypass) == "cachectl; fwd=bypass")
    #expect(Self.status(.revalidate, .stale) == "cachectl; fwd=stale")
    #expect(Self.status(.revalidate, .request) == "cachectl; fwd=request")
    #expect(Self.status(.fetch, .partial) == "cachectl; fwd=partial")
  }

  @Test func unansweredRequestsAreNeitherHitsNorForwarded() {
    #expect(Self.status(.fail, .uriMiss) == "cachectl")
  }

  @Test func tellsTheRest() {
    #expect(Self.status(.serve) { $0.timeToLive = .milliseconds(376_900) } == "cachectl; hit; ttl=376")
    #expect(Self.status(.serve) { $0.timeToLive = .seconds(-412) } == "cachectl; hit; ttl=-412")
    let text = Self.status(.revalidate, .stale) {
      $0.forwardStatus = 304
      $0.isStored = true
      $0.isCollapsed = true
      $0.timeToLive = .seconds(60)
    }
    #expect(
      text
        == "cachectl; fwd=stale; fwd-status=304; stored; collapsed; ttl=60"
    )
  }

  @Test func aHitHasNoStatusOfTheOrigin() {
    #expect(Self.status(.serve) { $0.forwardStatus = 200 } == "cachectl; hit")
  }

  @Test func writesNoMoreDigitsThanAnIntegerMayHave() {
    #expect(Self.status(.serve) { $0.timeToLive = .seconds(Int64.max) } == "cachectl; hit; ttl=999999999999999")
    #expect(Self.status(.serve) { $0.timeToLive = .seconds(Int64.min) } == "cachectl; hit; ttl=-999999999999999")
  }

  /// The text is a structured-field list with one member, parsed here as a dictionary with one member.
  @Test func isAStructuredField() {
    let text = Self.status(.revalidate, .stale) {
      ($0.timeToLive, $0.forwardStatus, $0.isStored) = (.seconds(-5), 200, true)
    }
    let members = CacheControl(targeted: ["CDN-Cache-Control": text])
    #expect(members != nil && members == CacheControl(targeted: ["CDN-Cache-Control": "cachectl"]))
  }
}
