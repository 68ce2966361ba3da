import EngineAPI
import Foundation
import Testing

@testable import LMDBStorage

/// Read transactions that stay open while nothing changes.
@Suite struct KeptSnapshotTests {
  /// Two environments on one store, as two processes would have them, and handles on them.
  private struct Processes {
    let store: TestStore
    let environment, otherEnvironment: LMDBEnvironment
    /// Reads and writes in one process.
    let reader, writer: LMDBEngine
    /// Writes in the other.
    let other: LMDBEngine

    /// The thread that ends unused transactions hardly ever runs.
    init(interval: Duration = .seconds(3_600)) throws {
      store = try TestStore()
      environment = try store.openEnvironment(snapshots: SnapshotKeeper(interval: interval))
      otherEnvironment = try store.openEnvironment()
      func engine(_ environment: LMDBEnvironment) -> LMDBEngine {
        LMDBEngine(LMDBEnvironmentUse(environment), durability: .relaxed, clock: FixedClock(now: .zero))
      }
      (reader, writer, other) = (engine(environment), engine(environment), engine(otherEnvironment))
    }

    /// Reads as often as a reader must to keep its transaction open.
    func read() async throws {
      for _ in 0..<KeptSnapshot.requiredEqualStates { _ = try await reader.payload("cities/a") }
    }

    /// Reads until the reader keeps its transaction open.
    func keep() async throws {
      try await read()
      #expect(environment.snapshots.isKeeping)
    }

    func close() async throws {
      for engine in [reader, writer, other] { try await engine.close() }
    }
  }

  @Test func changesOfAnyProcessAreSeen() async throws {
    let processes = try Processes()
    for round in UInt8(0)..<5 {
      for engine in [processes.writer, processes.other, processes.reader] {
        try await engine.put("cities/a", [round])
        #expect(try await processes.reader.payload("cities/a") == [round])
        try await processes.keep()
        try await engine.remove("cities/a")
        #expect(try await processes.reader.payload("cities/a") == nil)
        try await processes.keep()
      }
    }
    try await processes.close()
  }

  @Test func aNewNamespaceIsSeen() async throws {
    let processes = try Processes()
    try await processes.writer.put("cities/a", [1])
    try await processes.keep()
    try await processes.writer.put("movies/a", [2])
    #expect(try await processes.reader.payload("movies/a") == [2])
    try await processes.keep()
    try await processes.other.put("posters/a", [3])
    #expect(try await processes.reader.payload("posters/a") == [3])
    #expect(try await processes.reader.keys() == ["cities/a", "movies/a", "posters/a"])
    try await processes.close()
  }

  @Test(arguments: [false, true]) func theMapGrowsWithAReaderKept(inOtherProcess: Bool) async throws {
    let processes = try Processes()
    try await processes.writer.put("cities/a", [1])
    try await processes.keep()
    let large = [UInt8](repeating: 0xA5, count: 8 << 20)
    try await (inOtherProcess ? processes.other : processes.writer).put("cities/large", large)
    #expect(try await processes.reader.payload("cities/large") == large)
    #expect(try await processes.reader.payload("cities/a") == [1])
    try await processes.close()
  }

  @Test func aWriterEndsTransactionsOfIdleReaders() async throws {
    let processes = try Processes()
    try await processes.writer.put("cities/a", [1])
    try await processes.keep()
    try await processes.writer.put("cities/b", [1])
    #expect(!processes.environment.snapshots.isKeeping)
    try await processes.close()
  }

  @Test(arguments: [false, true]) func theFileDoesNotGrowWithAReaderKept(inOtherProcess: Bool) async throws {
    var sizes: [Int] = []
    for isReading in [false, true] {
      let processes = try Processes(interval: inOtherProcess ? .microseconds(100) : .seconds(3_600))
      try await overwrite(processes.writer)
      // A thread with so short an interval may already have ended the kept transaction.
      if isReading { try await inOtherProcess ? processes.read() : processes.keep() }
      while inOtherProcess, processes.environment.snapshots.isKeeping { await Task.yield() }
      for _ in 0..<50 { try await overwrite(inOtherProcess ? processes.other : processes.writer) }
      sizes.append(try processes.store.bytes.count)
      try await processes.close()
    }
    #expect(sizes[0] == sizes[1])
  }

  private func overwrite(_ engine: LMDBEngine) async throws {
    for index in 0..<20 { try await engine.put("cities/\(index)", [UInt8](repeating: 7, count: 10_000)) }
  }

  @Test func closingEndsKeptTransactions() async throws {
    let processes = try Processes()
    try await processes.writer.put("cities/a", [1])
    try await processes.keep()
    try await processes.reader.close()
    #expect(!processes.environment.snapshots.isKeeping)
    #expect(await code { _ = try await processes.reader.payload("cities/a") } == .closed)
    try await processes.close()
  }

  @Test func theChangeCountTellsOfEveryChange() async throws {
    let processes = try Processes()
    var counts: Set<UInt64> = []
    for round in UInt8(0)..<4 {
      for engine in [processes.writer, processes.other] {
        try await engine.put("cities/a", [round])
        // Until a reader has seen the state, the count is unknown.
        #expect(try processes.reader.changeCount() == nil)
        #expect(try await processes.reader.payload("cities/a") == [round])
        let count = try #require(try processes.reader.changeCount())
        #expect(counts.insert(count).inserted)
        try await processes.keep()
        #expect(try processes.reader.changeCount() == count)
        #expect(try processes.writer.changeCount() == count)
      }
    }
    try await processes.close()
    #expect(await code { _ = try processes.reader.changeCount() } == .closed)
  }
}
