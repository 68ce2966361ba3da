import FetchVocabulary
import Testing

struct SnapshotsTests {
  @Test func nothingHappensBeforeTheFirstIsRequested() async throws {
    let journal = Journal()
    let snapshots = Fixtures.snapshots([1, 2], journal: journal)
    var iterator = snapshots.makeAsyncIterator()
    #expect(journal.entries.isEmpty)
    #expect(try await iterator.next()?.value == 1)
    #expect(journal.entries == ["make 1"])
    #expect(try await iterator.next()?.value == 2)
    #expect(journal.entries == ["make 1", "make 2"])
    #expect(try await iterator.next()?.value == nil)
    #expect(try await iterator.next()?.value == nil)
    #expect(journal.entries == ["make 1", "make 2"])
  }

  @Test(arguments: [[], [1], [1, 2]]) func anErrorEndsTheSequence(values: [Int]) async throws {
    let journal = Journal()
    let unreachable = CacheError(.originUnreachable, "the server is away")
    var iterator = Fixtures.snapshots(values, then: unreachable, journal: journal).makeAsyncIterator()
    for value in values { #expect(try await iterator.next()?.value == value) }
    let error = await #expect(throws: CacheError.self) { _ = try await iterator.next() }
    #expect(error?.code == .originUnreachable)
    #expect(try await iterator.next() == nil)
    #expect(journal.entries.filter { $0 == "error" } == ["error"])
  }

  @Test func iteratingAgainFetchesAgain() async {
    let journal = Journal()
    let snapshots = Fixtures.snapshots(["a", "b"], journal: journal)
    for _ in 0..<2 { #expect(await Fixtures.collect(snapshots).snapshots.map(\.value) == ["a", "b"]) }
    #expect(journal.entries == ["make a", "make b", "make a", "make b"])
  }

  @Test func changingFirstLeavesTheOthersAlone() async {
    let journal = Journal()
    let changed = Fixtures.snapshots([1, 2, 3], journal: journal).changingFirst { snapshot in
      journal.add("change \(snapshot.value)")
      return Fixtures.snapshot(snapshot.value * 10)
    }
    #expect(journal.entries.isEmpty)
    #expect(await Fixtures.collect(changed).snapshots.map(\.value) == [10, 2, 3])
    #expect(journal.entries == ["make 1", "change 1", "make 2", "make 3"])
  }

  @Test func aChangeThatFailsEndsTheSequence() async {
    let journal = Journal()
    let changed = Fixtures.snapshots([1, 2], journal: journal)
      .changingFirst { _ throws(CacheError) in throw CacheError(.damaged, "the entry is damaged") }
    let (snapshots, error) = await Fixtures.collect(changed)
    #expect(snapshots.isEmpty)
    #expect(error?.code == .damaged)
    #expect(journal.entries == ["make 1"])
  }

  @Test func nothingIsChangedIfTheFirstFails() async {
    let journal = Journal()
    let changed = Fixtures.snapshots([Int](), then: .cancelled, journal: journal).changingFirst { snapshot in
      journal.add("change")
      return snapshot
    }
    #expect(await Fixtures.collect(changed).error?.code == .cancelled)
    #expect(journal.entries == ["error"])
  }

  @Test(arguments: 0...2) func aTaskCancelledBetweenStepsMakesNoFurtherOne(finished: Int) async {
    let journal = Journal()
    let code = await cancelling { ready async -> CacheError.Code? in
      do throws(CacheError) {
        var iterator = Fixtures.snapshots([1, 2, 3], journal: journal).makeAsyncIterator()
        for _ in 0..<finished { _ = try await iterator.next() }
        ready.yield()
        await waitForCancellation()
        _ = try await iterator.next()
        return nil
      } catch { return error.code }
    }
    #expect(code == .cancelled)
    #expect(journal.entries == ["make 1", "make 2"].prefix(finished).map(\.self))
  }

  @Test func aTaskCancelledDuringAStepEndsIt() async {
    let (snapshots, error) = await cancelling { ready in
      await Fixtures.collect(
        Snapshots<Int>(explain: Fixtures.explain) { () async throws(CacheError) in
          ready.yield()
          await waitForCancellation()
          throw .cancelled
        })
    }
    #expect(snapshots.isEmpty)
    #expect(error?.code == .cancelled)
  }
}

/// Sequences made of other sequences of snapshots.
struct SnapshotTransformTests {
  @Test(arguments: [[1], [1, 2], [1, 2, 3]]) func valuesAreMappedOneByOne(values: [Int]) async {
    let journal = Journal()
    let mapped = Fixtures.snapshots(values, journal: journal).mapValues { "<\($0)>" }
    #expect(journal.entries.isEmpty)
    let (snapshots, error) = await Fixtures.collect(mapped)
    #expect(snapshots.map(\.value) == values.map { "<\($0)>" })
    #expect(error == nil)
  }

  @Test func anErrorEndsAMappedSequenceToo() async {
    let error = CacheError(.notFound, "there is none")
    let mapped = Fixtures.snapshots([1], then: error, journal: Journal()).mapValues { $0 + 1 }
    let (snapshots, found) = await Fixtures.collect(mapped)
    #expect(snapshots.map(\.value) == [2])
    #expect(found?.code == .notFound)
  }

  @Test func aDeferredSequenceIsMadeWhenItIsIterated() async throws {
    let journal = Journal()
    let deferred = Snapshots<Int>.deferred { () throws(CacheError) in
      journal.add("defer")
      return Fixtures.snapshots([1, 2], journal: journal)
    }
    #expect(journal.entries.isEmpty)
    #expect(await Fixtures.collect(deferred).snapshots.map(\.value) == [1, 2])
    #expect(journal.entries == ["defer", "make 1", "make 2"])
    #expect(try await deferred.explanation() == Fixtures.explanation)
  }

  /// A warning from an earlier step is reported once, and the rest of the other sequence does not repeat it.
  @Test func warningsOnTheWayAreKept() async {
    @Sendable func step(_ value: Int, _ warnings: [String], next: Snapshots<Int>.Producer? = nil) -> Snapshots<Int>.Step
    {
      let warnings = warnings.map { CacheError(.damaged, $0) }
      return Snapshots.Step(Fixtures.snapshot(value, warnings: warnings), next: next)
    }
    let other = Snapshots(explain: Fixtures.explain) { () throws(CacheError) in
      step(10, ["a", "b"]) { () throws(CacheError) in step(11, []) }
    }
    let followed = Snapshots(explain: Fixtures.explain) { () throws(CacheError) in step(1, ["c", "a"]) }
      .following { snapshot throws(CacheError) in snapshot.value == 1 ? other : nil }
    let snapshots = await Fixtures.collect(followed).snapshots
    #expect(snapshots.map { $0.warnings.map(\.error.message) } == [["c", "a", "b"], []])
  }

  @Test func theLastSnapshotDecidesAboutTheNextAddress() async {
    let journal = Journal()
    let followed = Fixtures.snapshots([1, 2], journal: journal).following { snapshot throws(CacheError) in
      Fixtures.snapshots([snapshot.value * 10], journal: journal)
    }
    #expect(await Fixtures.collect(followed).snapshots.map(\.value) == [20])
    #expect(journal.entries == ["make 1", "make 2", "make 20"])
  }

  @Test func snapshotsThatLeadNowhereStay() async {
    let followed = Fixtures.snapshots([1, 2, 3], journal: Journal()).following { _ throws(CacheError) in nil }
    #expect(await Fixtures.collect(followed).snapshots.map(\.value) == [1, 2, 3])
  }
}

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
  func agesAndFreshnessAreComputedAtTheTimeOfReading(item: Case) {
    let facts = EntryFacts(
      key: "cities/v1/page=0", storedAt: .seconds(item.storedAt), freshUntil: .seconds(item.freshUntil),
      now: .seconds(item.now))
    #expect(facts.age == item.age.map { .seconds($0) })
    #expect(facts.remainingFreshness == .seconds(item.remaining))
    #expect(facts.isStale == item.isStale)
  }
}
