import CacheData
import Testing

struct FreshnessPolicyTests {
  @Test(arguments: [
    (60, 0, 0, 60), (60, 300, 0, 360), (60, 0, 300, 360), (60, 300, 900, 960), (60, 900, 300, 960), (0, 0, 0, 0),
    (0, 5, 7, 7),
  ])
  func anAnswerIsKeptForAsLongAsAStaleOneMayBeOfUse(
    timeToLive: Int, staleIfError: Int, staleWhileRevalidate: Int, retained: Int
  ) {
    let policy = FreshnessPolicy(
      timeToLive: .seconds(timeToLive), staleIfError: .seconds(staleIfError),
      staleWhileRevalidate: .seconds(staleWhileRevalidate))
    #expect(policy.lifetime == Lifetime(fresh: .seconds(timeToLive), retained: .seconds(retained)))
    #expect(policy.lifetime.retained == .seconds(retained))
  }

  @Test(arguments: [(10, 20, 20), (10, 10, 10), (10, 5, 10), (0, 0, 0)])
  func nothingIsKeptForLessTimeThanItIsFresh(fresh: Int, retained: Int, expected: Int) {
    let lifetime = Lifetime(fresh: .seconds(fresh), retained: .seconds(retained))
    #expect(lifetime.fresh == .seconds(fresh))
    #expect(lifetime.retained == .seconds(expected))
  }
}
