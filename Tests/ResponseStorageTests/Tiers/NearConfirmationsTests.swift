import Testing

@testable import CacheCore

@Suite("What near knows of far")
struct NearConfirmationsTests {
  private let confirmations = NearConfirmations(maxAge: .seconds(60))

  private func confirm(_ digest: UInt64) { _ = confirmations.confirm(1, confirmations.reading(digest, .none)) }

  private func isConfirmed(_ digest: UInt64) -> Bool { confirmations.isConfirmed(digest, 1, .none) }

  /// Keys do not take each other's confirmation: digests are spread as those of keys are.
  @Test func manyKeysAreConfirmedAtOnce() {
    let digests = (0..<100_000 as Range<UInt64>).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
    for digest in digests { confirm(digest) }
    #expect(digests.allSatisfy(isConfirmed))
  }

  /// More keys than are remembered cost reads of far, and no more memory.
  @Test func aFullPartBeginsAnew() {
    let digests = (0...UInt64(NearConfirmations.maximumPerPart)).map { $0 << 8 }
    for digest in digests { confirm(digest) }
    #expect(digests.filter(isConfirmed) == [digests[digests.count - 1]])
  }

  @Test func whatWasReadBeforeAChangeIsNotConfirmedAfterIt() {
    let before = confirmations.reading(7, .none)
    let change = confirmations.beginChange(7, .none)
    let during = confirmations.reading(7, .none)
    #expect(!confirmations.confirm(1, before) && !confirmations.confirm(1, during))
    confirmations.endChange(2, change)
    #expect(!confirmations.confirm(1, before) && !isConfirmed(7))
    #expect(confirmations.isConfirmed(7, 2, .none))
  }

  /// Far's order of two changes at the same time is not known.
  @Test(arguments: [true, false])
  func changesAtTheSameTimeConfirmNothing(isFirstLast: Bool) {
    let (first, second) = (confirmations.beginChange(7, .none), confirmations.beginChange(7, .none))
    confirmations.endChange(1, isFirstLast ? second : first)
    #expect(!isConfirmed(7))
    confirmations.endChange(1, isFirstLast ? first : second)
    #expect(!isConfirmed(7))
    confirm(7)
    #expect(isConfirmed(7))
  }

  @Test func aChangeThatFailedConfirmsNothing() {
    confirm(7)
    confirmations.endChange(nil, confirmations.beginChange(7, .none))
    #expect(!isConfirmed(7))
  }
}
