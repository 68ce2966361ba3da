import Testing

@testable import EngineAPI

@Suite struct KeptSnapshotTests {
  @Test func aReaderThatChangesTheStoreItselfGoesOnSeeingIt() {
    let keeper = SnapshotKeeper(interval: .seconds(3_600))
    var kept = KeptSnapshot(keeper)
    var state: UInt64 = 1
    var seen: [Bool] = []
    for _ in 0..<KeptSnapshot.requiredEqualStates {
      seen.append(kept.isCurrent(state))
      kept.began(at: state)
      state += 1
      kept.advanced(to: state)
    }
    #expect(!seen.contains(true))
    let stays = kept.stays()
    #expect(stays && keeper.isKeeping)
    state += 1
    kept.advanced(to: state)
    let (isCurrent, wasCurrent) = (kept.isCurrent(state), kept.isCurrent(state - 1))
    #expect(isCurrent && !wasCurrent)
    kept.ended()
    #expect(!keeper.isKeeping)
  }
}
