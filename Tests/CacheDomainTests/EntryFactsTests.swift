import FetchVocabulary
import Testing

struct EntryFactsTests {
  struct Case: Sendable {
    var storedAt: Int
    var freshUntil: Int
    var now: Int
    var age: Int?
    var remaining: Int
    var isStale: Bool
  }

  @Test(arguments: [
    Case(storedAt: 100, freshUntil: 160, now: 100, age: 0, remaining: 60, isStale: false),
    Case(storedAt: 100, freshUntil: 160, now: 159, age: 59, remaining: 1, isStale: false),
    Case(storedAt: 100, freshUntil: 160, now: 160, age: 60, remaining: 0, isStale: true),
    Case(storedAt: 100, freshUntil: 160, now: 161, age: 61, remaining: -1, isStale: true),
    // The clocks of machines that share a store differ a little.
    Case(storedAt: 100, freshUntil: 160, now: 40, age: 0, remaining: 60, isStale: false),
    Case(storedAt: 100, freshUntil: 100, now: 40, age: 0, remaining: 0, isStale: true),
    // A clock that was set back leaves the age unknown, which is stale.
    Case(storedAt: 100, freshUntil: 160, now: 39, age: nil, remaining: 0, isStale: true),
    Case(storedAt: 253_402_300_799, freshUntil: 253_402_300_799, now: 39, age: nil, remaining: 0, isStale: true),
    Case(storedAt: 100, freshUntil: 100, now: 100, age: 0, remaining: 0, isStale: true),
  ])
  func agesAndFreshnessAreThoseOfTheMomentOfReading(item: Case) {
    let facts = EntryFacts(
      key: "cities/v1/page=0", storedAt: .seconds(item.storedAt), freshUntil: .seconds(item.freshUntil),
      now: .seconds(item.now))
    #expect(facts.age == item.age.map { .seconds($0) })
    #expect(facts.remainingFreshness == .seconds(item.remaining))
    #expect(facts.isStale == item.isStale)
    #expect(facts.storedAt == .seconds(item.storedAt))
    #expect(facts.freshUntil == .seconds(item.freshUntil))
    #expect(facts.key == "cities/v1/page=0")
  }
}
