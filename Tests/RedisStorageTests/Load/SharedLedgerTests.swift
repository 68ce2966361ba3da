import Foundation
import Testing

@testable import RedisExerciser

/// The ledger objects to each kind of wrong read, and to no other.
@Suite struct SharedLedgerTests {
  private let ledger: SharedLedger
  /// One that changes 1 and 2 store, and 3 removes.
  private let entry: Int

  init() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let ledger = try SharedLedger(file, entries: 10_000)
    self.ledger = ledger
    entry = try #require(
      (0..<10_000).first { entry in (1...3).allSatisfy { ledger.isRemoval(entry, $0) == ($0 == 3) } })
  }

  /// Whether the ledger objects to a read that finds `found`, while `meanwhile` happens.
  private func objects(to found: Int?, _ meanwhile: () -> Void = {}) -> Bool {
    let before = ledger.moment(of: entry)
    meanwhile()
    return ledger.objection(entry, found, since: before) != nil
  }

  private func confirm(_ change: Int) {
    ledger[.tried, entry] = change
    ledger.raise(.confirmed, entry, SharedLedger.Stamp(epoch: ledger[.epoch], change: change))
  }

  @Test func changes() {
    #expect(!objects(to: nil) && objects(to: 1))
    confirm(1)
    #expect(objects(to: nil), "a confirmed change is lost")
    #expect(!objects(to: 1) && !objects(to: 1) { confirm(2) })
    #expect(!objects(to: 2) && objects(to: 1) && objects(to: nil), "an older one")
    #expect(!objects(to: nil) { ledger[.tried, entry] = 3 }, "the removal may have been made")
    confirm(3)
    #expect(!objects(to: nil) && objects(to: 2))
  }

  @Test func recordedReadsAreNotLost() {
    confirm(1)
    ledger[.tried, entry] = 2
    #expect(!objects(to: 1) && !objects(to: 2) && objects(to: 1))
  }

  @Test func dropped() {
    confirm(1)
    ledger[.vanishes, entry] = 1
    #expect(!objects(to: nil) && !objects(to: 1))
    ledger[.gone, entry] = 1
    #expect(!objects(to: nil) && objects(to: 1), "a removed entry exists again")
  }

  @Test func failover() {
    confirm(1)
    ledger[.replicated, entry] = 1
    confirm(2)
    ledger[.epoch] = 1
    #expect(!objects(to: 1) && !objects(to: 2) && objects(to: nil))
    ledger[.epoch] = 2
    #expect(!objects(to: 1) && objects(to: nil))
    confirm(2)
    #expect(objects(to: 1) && !objects(to: 2))
  }
}
