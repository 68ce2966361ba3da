import FetchVocabulary
import Testing

struct SnapshotsTests {
  @Test func nothingHappensBeforeTheFirstIsAskedFor() async throws {
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

  @Test(arguments: [[1], [1, 2], [3, 1, 2]])
  func snapshotsComeInOrder(values: [Int]) async throws {
    var found: [Int] = []
    for try await snapshot in Fixtures.snapshots(values, journal: Journal()) { found.append(snapshot.value) }
    #expect(found == values)
  }

  @Test(arguments: [[], [1], [1, 2]])
  func anErrorEndsTheSequence(values: [Int]) async throws {
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

  @Test func nothingIsChangedWhereTheFirstFails() async {
    let journal = Journal()
    let changed = Fixtures.snapshots([Int](), then: .cancelled, journal: journal).changingFirst { snapshot in
      journal.add("change")
      return snapshot
    }
    #expect(await Fixtures.collect(changed).error?.code == .cancelled)
    #expect(journal.entries == ["error"])
  }

  @Test(arguments: 0...2)
  func aTaskCancelledBetweenStepsMakesNoFurtherOne(finished: Int) async {
    let journal = Journal()
    let code = await cancelling { ready async -> CacheError.Code? in
      do throws(CacheError) {
        var iterator = Fixtures.snapshots([1, 2, 3], journal: journal).makeAsyncIterator()
        for _ in 0..<finished { _ = try await iterator.next() }
        ready.yield()
        await waitForCancellation()
        _ = try await iterator.next()
        return nil
      } catch {
        return error.code
      }
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
