import FetchVocabulary
import Testing

/// Sequences made of other sequences of snapshots.
struct SnapshotTransformTests {
  @Test(arguments: [[1], [1, 2], [1, 2, 3]])
  func valuesAreMappedOneByOne(values: [Int]) async {
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

  @Test func whatIsElsewhereIsFollowed() async {
    let journal = Journal()
    let followed = Fixtures.snapshots([1], journal: journal).following { snapshot throws(CacheError) in
      snapshot.value == 1 ? Fixtures.snapshots([10, 11], journal: journal) : nil
    }
    #expect(await Fixtures.collect(followed).snapshots.map(\.value) == [10, 11])
  }

  /// What went wrong on the way is said, once, and the rest of the other sequence does not repeat it.
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
    #expect(snapshots.map { $0.warnings.map(\.message) } == [["c", "a", "b"], []])
  }

  @Test func theLastSnapshotIsAskedWhereToGo() async {
    let journal = Journal()
    let followed = Fixtures.snapshots([1, 2], journal: journal).following { snapshot throws(CacheError) in
      Fixtures.snapshots([snapshot.value * 10], journal: journal)
    }
    #expect(await Fixtures.collect(followed).snapshots.map(\.value) == [20])
    #expect(journal.entries == ["make 1", "make 2", "make 20"])
  }

  @Test func whatIsNotElsewhereStays() async {
    let followed = Fixtures.snapshots([1, 2, 3], journal: Journal()).following { _ throws(CacheError) in nil }
    #expect(await Fixtures.collect(followed).snapshots.map(\.value) == [1, 2, 3])
  }
}
