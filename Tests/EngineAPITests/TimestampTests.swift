import EngineAPI
import Testing

@Suite struct TimestampTests {
  private static let last: Int64 = 253_402_300_799_999

  @Test(
    arguments: [(0, 0), (-1, 0), (.min, 0), (1, 1), (last, last), (last + 1, last), (.max, last)] as [(Int64, Int64)])
  func timesAreMovedIntoTheRange(milliseconds: Int64, expected: Int64) {
    #expect(Timestamp(milliseconds: milliseconds).milliseconds == expected)
  }

  @Test(
    arguments: [
      (1_000, .milliseconds(1), 1_001), (1_000, .microseconds(1_999), 1_001), (1_000, .seconds(-1), 0),
      (1_000, .seconds(-2), 0), (0, .seconds(Int64.max), last), (0, .seconds(Int64.min), 0),
      (last, .seconds(3_600), last),
      (last, .milliseconds(-1), last - 1), (0, .seconds(9_223_372_036_854_775), last), (1_000, .zero, 1_000),
      (0, .seconds(9_223_372_036_854_775) + .milliseconds(999), last),
      (0, .seconds(-9_223_372_036_854_775) - .milliseconds(999), 0),
      (0, .seconds(Int64.max) + .seconds(Int64.max), last), (0, .seconds(Int64.min) + .seconds(Int64.min), 0),
    ] as [(Int64, Duration, Int64)])
  func sumsStopAtTheEnds(start: Int64, duration: Duration, expected: Int64) {
    #expect(Timestamp(milliseconds: start).advanced(by: duration).milliseconds == expected)
  }

  @Test func differencesAreSigned() {
    let (early, late) = (Timestamp(milliseconds: 1_000), Timestamp(milliseconds: 2_500))
    #expect(late.duration(since: early) == .milliseconds(1_500))
    #expect(early.duration(since: late) == .milliseconds(-1_500))
    #expect(early < late && !(late < early) && Timestamp.distantFuture > late)
  }

  @Test(
    arguments: [
      (99, .fresh), (100, .stale), (199, .stale), (200, .expired), (201, .expired),
    ] as [(Int64, EntryState)])
  func statesChangeAtTheirInstants(time: Int64, expected: EntryState) {
    #expect(Self.metadata(fresh: 100, retain: 200).state(at: Timestamp(milliseconds: time)) == expected)
  }

  @Test func retentionOverridesFreshness() {
    let metadata = Self.metadata(fresh: 200, retain: 100)
    #expect(metadata.state(at: Timestamp(milliseconds: 99)) == .fresh)
    #expect(metadata.state(at: Timestamp(milliseconds: 100)) == .expired)
    #expect(Self.metadata(fresh: 0, retain: 0).state(at: Timestamp(milliseconds: 0)) == .expired)
  }

  private static func metadata(fresh: Int64, retain: Int64) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: Timestamp(milliseconds: fresh),
      retainUntil: Timestamp(milliseconds: retain), contentType: "")
  }
}
