@testable import CacheCore
import FetchVocabulary
import EngineConformance
import EngineAPI
import Testing

/// The state in a listing and the freshness in a fetch follow the same rule, on two sides of a boundary that neither
/// imports across.
struct ClockAgreementTests {
  @Test func toleranceIsTheSame() {
    #expect(EntryAge.tolerance == Timestamp.clockTolerance)
  }

  @Test(arguments: [0, 1_000_000, 253_402_300_799_999] as [Int64], [0, 1, 60_000, 600_000] as [Int64])
  func aListingAndAFetchCallTheSameFresh(storedAt: Int64, lifetime: Int64) {
    let stored = Timestamp(milliseconds: storedAt)
    let metadata = EntryMetadata(
      storedAt: stored, freshUntil: Timestamp(milliseconds: storedAt + lifetime),
      retainUntil: .distantFuture, contentType: "")
    for offset: Int64 in [-864_000_000, -60_001, -60_000, -59_999, -1, 0, 1, 59_999, 60_000, 60_001, 600_000] {
      let now = Timestamp(milliseconds: storedAt + offset)
      if now == .distantFuture { continue }
      let age = EntryAge(
        storedAt: stored.sinceEpoch, freshUntil: metadata.freshUntil.sinceEpoch, now: now.sinceEpoch)
      let isFresh = age.map { $0.remainingFreshness > .zero } ?? false
      #expect((metadata.state(at: now) == .fresh) == isFresh, "\(offset) ms")
      #expect(stored.isAhead(of: now) == (age == nil), "\(offset) ms")
    }
  }
}
