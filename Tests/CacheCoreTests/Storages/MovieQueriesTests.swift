import CacheData
import CacheDomain
import EngineConformance
import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

struct MovieQueriesTests {
  private func query(_ text: String) throws -> MovieQuery { try #require(MovieQuery(text)) }

  private func texts(_ storage: DefaultMovieQueriesRepository) async throws -> [String] {
    try await storage.recentQueries().map(\.query.text)
  }

  @Test(arguments: [
    ([], 10, []), (["a"], 10, ["a"]), (["a", "b", "c"], 10, ["c", "b", "a"]), (["a", "b", "a"], 10, ["a", "b"]),
    (["a", "a", "a"], 10, ["a"]), (["a", "b", "c", "d"], 3, ["d", "c", "b"]),
    (["a", "b", "c", "a"], 3, ["a", "c", "b"]),
    (["a", "b"], 1, ["b"]), (["a", "a"], 1, ["a"]), (["a", "b"], 0, []), (["a", "A"], 10, ["A", "a"]),
  ])
  func theNewestComeFirstEachOnceUpToTheMaximum(saved: [String], maximum: Int, expected: [String]) async throws {
    let test = try await TestStore()
    let storage = test.queries(maximum)
    for text in saved { try await storage.save(try query(text)) }
    #expect(try await texts(storage) == expected)
  }

  @Test func asManyAreKeptAsAreWantedAndNoMore() async throws {
    let test = try await TestStore()
    for number in 0..<25 { try await test.queries().save(try query("q\(number)")) }
    #expect(try await texts(test.queries()) == (15..<25).reversed().map { "q\($0)" })
    #expect(try await texts(test.queries(3)) == ["q24", "q23", "q22"])
    #expect(try await texts(test.queries(0)) == [])
    // A larger maximum does not bring queries back.
    #expect(try await texts(test.queries(100)).count == 10)
  }

  @Test func timesOfSearchingAreKept() async throws {
    let test = try await TestStore()
    try await test.queries().save(try query("a"))
    test.clock.advance(by: .milliseconds(1_234))
    try await test.queries().save(try query("b"))
    let expected = [
      RecentMovieQuery(query: try query("b"), searchedAt: .milliseconds(1_001_234)),
      RecentMovieQuery(query: try query("a"), searchedAt: .milliseconds(1_000_000)),
    ]
    #expect(try await test.queries().recentQueries() == expected)
    test.clock.advance(by: .seconds(10))
    try await test.queries().save(try query("a"))
    #expect(
      try await test.queries().recentQueries().map(\.searchedAt) == [
        .milliseconds(1_011_234), .milliseconds(1_001_234),
      ])
  }

  @Test func queriesNeverExpire() async throws {
    let test = try await TestStore()
    try await test.queries().save(try query("a"))
    test.clock.set(Timestamp(milliseconds: Timestamp.distantFuture.milliseconds - 1))
    try await test.engine.compact()
    #expect(try await texts(test.queries()) == ["a"])
    try await test.queries().save(try query("b"))
    #expect(try await texts(test.queries()) == ["b", "a"])
  }

  @Test(arguments: ["é\n\"quoted\" / 東京 😀", String(repeating: "long ", count: 5_000)])
  func anyTextComesBack(text: String) async throws {
    let test = try await TestStore()
    try await test.queries().save(try query(text))
    #expect(try await test.queries().recentQueries().map(\.query) == [try query(text)])
  }

  @Test func nothingIsLostWhereManySaveAtOnce() async throws {
    let test = try await TestStore()
    let queries = try (0..<64).map { try query("q\($0)") }
    let storage = test.queries(100)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for query in queries { group.addTask { try await storage.save(query) } }
      try await group.waitForAll()
    }
    #expect(Set(try await texts(storage)) == Set(queries.map(\.text)))
    #expect(try await texts(storage).count == 64)
  }

  @Test(arguments: [0, 1, 2, 999])
  func aConflictIsTriedAgain(conflicts: Int) async throws {
    let test = try await TestStore()
    test.engine.refuse(conflicts)
    try await test.queries().save(try query("a"))
    #expect(test.engine.batches.count == conflicts + 1)
    #expect(try await texts(test.queries()) == ["a"])
  }

  @Test func whoAlwaysLosesGivesUp() async throws {
    let test = try await TestStore()
    try await test.queries().save(try query("before"))
    test.engine.refuse(.max)
    let wanted = try query("a")
    #expect(await errorCode { () async throws(CacheError) in try await test.queries().save(wanted) } == .conflict)
    #expect(test.engine.batches.count == 1 + 1_000)
    #expect(try await texts(test.queries()) == ["before"])
  }

  @Test func whoIsCancelledStopsTrying() async throws {
    let test = try await TestStore()
    test.engine.refuse(.max)
    let wanted = try query("a")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await errorCode { () async throws(CacheError) in try await test.queries().save(wanted) }
    }
    #expect(await task.value == .cancelled)
    #expect(test.engine.batches.count == 1)
  }

  @Test func damageIsAnErrorAndIsNotWrittenOver() async throws {
    let test = try await TestStore()
    try await test.queries().save(try query("a"))
    test.engine.alter { entry in (entry.key, entry.payload + [0], entry.metadata) }
    let wanted = try query("b")
    let codes = await [
      errorCode { () async throws(CacheError) in try await test.queries().save(wanted) },
      errorCode { () async throws(CacheError) in _ = try await test.queries().recentQueries() },
    ]
    #expect(codes == [.damaged, .damaged])
    test.engine.alter { $0 }
    #expect(try await texts(test.queries()) == ["a"])
  }
}
