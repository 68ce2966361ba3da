import FetchVocabulary
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

/// Leases are hidden from listings, unless their namespace is asked for by name.
struct HiddenLeasesTests {
  private static let selections: [(EntrySelection, isShown: Bool, isRemoved: Bool)] = [
    (EntrySelection(prefix: "lea"), false, false), (EntrySelection(namespace: "cities"), false, false),
    (EntrySelection(namespace: "leases"), true, true), (EntrySelection(namespace: "leases", state: .fresh), true, true),
    (EntrySelection(namespace: "leases", prefix: "leases/,a"), true, true),
    // These end the request, and count its lease as little as they list it.
    (EntrySelection(), false, true), (EntrySelection(state: .fresh), false, true),
    (EntrySelection(state: .stale), false, false),
  ]

  private func administration(_ test: CoalescingTest) -> StoreAdministration {
    StoreAdministration(test.test.store)
  }

  @Test(arguments: selections)
  func theyAreListedByTheirNamespaceOnly(selection: EntrySelection, isShown: Bool, isRemoved: Bool) async throws {
    let test = try await CoalescingTest()
    let key = try await test.leaveLease()
    let listing = try await administration(test).list(selection, after: nil, limit: 10)
    #expect(listing.entries.map(\.key) == (isShown ? [key] : []))
    #expect(try await administration(test).change(.remove, selection, dryRun: false).entries == (isShown ? 1 : 0))
    #expect(try await test.entries().isEmpty == isRemoved)
  }

  @Test func theyAreNotCounted() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    let report = try await administration(test).statistics()
    #expect(report.count?.namespaces.isEmpty == true)
    #expect(EntryState.allCases.allSatisfy { report.count($0) == 0 })
  }

  @Test func whoNamesTheKeyOfOneCanRemoveIt() async throws {
    let test = try await CoalescingTest()
    let key = try await test.leaveLease()
    #expect(try await administration(test).change(.remove, keys: [key], dryRun: false).entries == 1)
    #expect(try await test.entries().isEmpty)
  }

  @Test func thoseThatHaveRunOutAreDroppedLikeAnyExpiredEntry() async throws {
    let test = try await CoalescingTest()
    try await test.leaveLease()
    test.test.clock.advance(by: CoalescingTest.duration)
    try await test.test.engine.compact()
    #expect(try await test.entries().isEmpty)
  }
}
