import EngineAPI
import Testing

@testable import CacheCore

@Suite("Versions that were seen in the remote store")
struct ConfirmationsTests {
  private let confirmations = Confirmations(maxAge: .seconds(60))

  private func moment(_ digest: UInt64, change: UInt64? = 0, at seconds: Int64 = 1_000) -> Confirmations.Moment {
    confirmations.moment(digest, change, Timestamp(milliseconds: seconds * 1_000))
  }

  private func confirm(_ digest: UInt64) -> Bool { confirmations.confirm(1, moment(digest)) }

  private func isConfirmed(_ digest: UInt64) -> Bool { confirmations.isConfirmed(1, moment(digest)) }

  /// Keys do not take each other's confirmation: digests are spread as those of keys are.
  @Test func manyKeysAreConfirmedAtOnce() {
    let digests = (0..<100_000 as Range<UInt64>).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
    #expect(digests.allSatisfy(confirm) && digests.allSatisfy(isConfirmed))
  }

  /// More keys than are remembered cost reads of the remote store, and no more memory.
  @Test func aFullPartStartsAgain() {
    let digests = (0...UInt64(Confirmations.maximumPerPart)).map { $0 << 8 }
    for digest in digests { #expect(confirm(digest)) }
    #expect(digests.filter(isConfirmed) == [digests[digests.count - 1]])
  }

  @Test func aConfirmationIsOfOneVersion() {
    #expect(confirm(7) && isConfirmed(7))
    #expect(!confirmations.isConfirmed(2, moment(7)) && !isConfirmed(8))
  }

  @Test(arguments: [(1_000, true), (1_059, true), (1_060, false), (999, false)] as [(Int64, Bool)])
  func aConfirmationHoldsForItsAge(seconds: Int64, holds: Bool) {
    #expect(confirm(7))
    #expect(confirmations.isConfirmed(1, moment(7, at: seconds)) == holds)
  }

  /// `nil` for a remote engine that cannot tell.
  @Test(arguments: [(1, 1, true), (1, 2, false), (1, nil, false), (nil, 1, false), (nil, nil, false)])
  func aConfirmationHoldsWhileNothingChanges(then: UInt64?, now: UInt64?, holds: Bool) {
    #expect(confirmations.confirm(1, moment(7, change: then)))
    #expect(confirmations.isConfirmed(1, moment(7, change: now)) == holds)
  }

  @Test func aReadThatBeganBeforeTheEndOfAChangeConfirmsNothing() {
    #expect(confirm(7))
    let before = moment(7)
    confirmations.beginChange(7)
    let during = moment(7)
    #expect(!isConfirmed(7) && !confirmations.confirm(1, before) && !confirmations.confirm(1, during))
    confirmations.endChange(7)
    #expect(!confirmations.confirm(1, before) && !confirmations.confirm(1, during) && !isConfirmed(7))
    #expect(confirm(7) && isConfirmed(7))
  }

  @Test func changesAtTheSameTimeEndWithTheLast() {
    confirmations.beginChange(7)
    confirmations.beginChange(7)
    confirmations.endChange(7)
    #expect(!confirm(7))
    confirmations.endChange(7)
    #expect(confirm(7))
  }
}
