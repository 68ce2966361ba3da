import CLMDB
import Foundation
import SeededNumbers
import EngineAPI
import Testing

@testable import LMDBStorage

/// The special features of LMDB: the growing map, handles that share an environment, its tools, its files.
@Suite struct StoreTests {
  @Test func mapGrowsForOneLargePayloadAndForManySmallOnes() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let large = [UInt8](repeating: 0xA5, count: 64 << 20)
    try await engine.put("posters/large", large)
    #expect(try await engine.payload("posters/large") == large)
    for round in 0..<2 {
      var batch = WriteBatch()
      for index in 0..<2_000 {
        batch.put(
          try CacheKey("cities/\(round)/\(index)"), payload: [UInt8](repeating: 1, count: 3_000), metadata: .sample())
      }
      try await engine.apply(batch)
    }
    #expect(try await engine.count().entries == 4_001)
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  @Test func growsWhileOthersRead() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    try await engine.put("cities/a", [1])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<1_000 {
            let payload = try await engine.payload("cities/a")
            #expect(payload == [1])
          }
        }
      }
      group.addTask {
        for index in 0..<60 { try await engine.put("posters/\(index)", [UInt8](repeating: 7, count: 300_000)) }
      }
      try await group.waitForAll()
    }
    #expect(try await engine.count().entries == 61)
    try await engine.close()
  }

  @Test func handlesOfOneProcessShareTheEnvironment() async throws {
    let store = try TestStore()
    let first = try await store.open(durability: .full)
    let second = try await store.open(durability: .normal)
    try await first.put("cities/a", [1])
    #expect(try await second.payload("cities/a") == [1])
    try await first.close()
    #expect(await code { try await first.put("cities/b") } == .closed)
    #expect(await code { _ = try await first.payload("cities/a") } == .closed)
    try await first.close()
    try await second.put("cities/a", [2])
    #expect(try await second.payload("cities/a") == [2])
    try await second.close()
    let third = try await store.open()
    #expect(try await third.payload("cities/a") == [2])
    try await third.close()
  }

  @Test func closingLetsGoOfTheFiles() async throws {
    let store = try TestStore()
    for round in 0..<50 {
      let engine = try await store.open()
      try await engine.put("cities/a", [UInt8(round)])
      try await engine.close()
    }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(store.path) == true
    }
    #expect(open == [])
  }

  @Test func opensAndClosesFromManyTasks() async throws {
    let store = try TestStore()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<20 {
            let engine = try await store.open()
            try await engine.put("n\(task)x/a", [UInt8(round)])
            let payload = try await engine.payload("n\(task)x/a")
            #expect(payload == [UInt8(round)])
            try await engine.close()
          }
        }
      }
      try await group.waitForAll()
    }
    let engine = try await store.open()
    #expect(try await engine.keys() == (0..<4).map { "n\($0)x/a" })
    try await engine.close()
  }

  /// LMDB gives the handle of a database that one transaction opens to another database, if an older transaction opens
  /// that one.
  @Test func namespacesAreReadForTheFirstTimeWhileOthersAreCreated() async throws {
    let store = try TestStore()
    let numbers = 0..<60
    let first = try await store.open()
    for number in numbers { try await first.put("r\(number)x/a", [UInt8(number)]) }
    try await first.close()
    let engine = try await store.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in numbers {
          let payload = try await engine.payload("r\(number)x/a")
          #expect(payload == [UInt8(number)])
        }
      }
      group.addTask { for number in numbers { try await engine.put("w\(number)x/a", [UInt8(number)]) } }
      try await group.waitForAll()
    }
    for number in numbers {
      #expect(try await engine.payload("r\(number)x/a") == [UInt8(number)])
      #expect(try await engine.payload("w\(number)x/a") == [UInt8(number)])
    }
    #expect(try await engine.check() == [])
    try await engine.close()
  }

  @Test func readingCreatesNothing() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    let before = try Data(contentsOf: URL(fileURLWithPath: store.dataFile))
    #expect(try await engine.payload("cities/a") == nil)
    #expect(try await engine.keys() == [])
    #expect(try await engine.scan(ScanRequest(includesPayloads: true)) == ScanPage())
    try await engine.remove("cities/a")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store.dataFile)) == before)
    try await engine.close()
  }

  @Test func tooManyNamespacesAreRefused() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    for index in 0..<LMDBEnvironment.maximumNamespaces { try await engine.put("n\(index)/a") }
    #expect(await code { try await engine.put("toomany/a") } == .tooLarge)
    #expect(try await engine.count().namespaces.count == LMDBEnvironment.maximumNamespaces)
    try await engine.close()
  }

  @Test(arguments: [1] as [UInt64]) func structureStaysIntactUnderRandomWork(seed: UInt64) async throws {
    let store = try TestStore()
    let engine = try await store.open()
    var random = SeededGenerator(seed: seed)
    var model: [String: [UInt8]] = [:]
    for round in 0..<60 {
      var batch = WriteBatch()
      for _ in 0..<Int.random(in: 1...80, using: &random) {
        let number = Int.random(in: 0..<400, using: &random)
        let tail = number % 7 == 0 ? String(repeating: "l", count: 520) : ""
        let key = "n\(number % 3)/" + tail + "\(number)"
        if Int.random(in: 0..<3, using: &random) == 0 {
          batch.remove(try CacheKey(key))
          model[key] = nil
        } else {
          let size = [0, 10, 900, 2_100, 9_000, 70_000].randomElement(using: &random) ?? 0
          let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size)
          batch.put(try CacheKey(key), payload: payload, metadata: .sample())
          model[key] = payload
        }
      }
      try await engine.apply(batch)
      #expect(try await engine.check() == [], "seed \(seed), round \(round)")
    }
    #expect(try await engine.keys(step: 13) == model.keys.sorted(), "seed \(seed)")
    for (key, payload) in model { #expect(try await engine.payload(key) == payload, "seed \(seed), key \(key)") }
    try await engine.close()
    let again = try await store.open()
    #expect(try await again.count().payloadBytes == model.values.reduce(0) { $0 + $1.count })
    try await again.close()
  }

  @Test(arguments: Durability.allCases) func everyDurabilityStoresAndWaitsForTheDiskOrNot(durability: Durability)
    async throws
  {
    let store = try TestStore()
    let engine = try await store.open(durability: durability)
    try await engine.put("cities/a", [1])
    try await engine.close()
    let again = try await store.open()
    #expect(try await again.payload("cities/a") == [1])
    try await again.close()
    let expected: [Durability: Int32] = [.full: 0, .normal: MDB_NOMETASYNC, .relaxed: MDB_NOSYNC]
    #expect(expected[durability].map { UInt32($0) } == durability.commitFlags)
  }
}
