import FetchVocabulary
import Foundation
import ResponseStorage
import StorageConformance
import StorageSPI
import Testing

@testable import CacheComposition

struct FileAccessLogTests {
  private static func record(_ digest: UInt64, _ last: Int64 = 1, _ count: Int64 = 1) -> AccessRecord {
    AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count))
  }

  private static func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  /// A mapped file that another program truncates ends the process at the next look at it.
  @Test func aFileThatIsTruncatedWhileItIsUsedEndsNothing() throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    let log = FileAccessLog(UsageFile(path: path), capacity: 10_000)
    try log.add((0..<2_000).map { Self.record($0) })
    let snapshot = try log.snapshot()
    #expect(truncate(path, 0) == 0)
    #expect(snapshot.history(of: 1_999)?.count == 1)
    #expect(try log.snapshot().history(of: 1_999) == nil)
  }

  @Test func usesAddUpOverHandles() throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    #expect(try FileAccessLog(UsageFile(path: path), capacity: 10).snapshot().history(of: 1) == nil)
    try FileAccessLog(UsageFile(path: path), capacity: 10).add([])
    #expect(!FileManager.default.fileExists(atPath: home.home), "nothing is written where nothing was used")
    let reader = FileAccessLog(UsageFile(path: path), capacity: 10)
    for round in 1...3 {
      try FileAccessLog(UsageFile(path: path), capacity: 10).add([Self.record(1, Int64(round)), Self.record(2, 7, 5)])
      let snapshot = try reader.snapshot()
      #expect(
        snapshot.history(of: 1) == AccessHistory(lastUsedAt: Timestamp(milliseconds: Int64(round)), count: Int64(round))
      )
      #expect(snapshot.history(of: 2)?.count == Int64(5 * round))
      #expect(snapshot.history(of: 3) == nil)
    }
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func whatWasAddedIsFoundHoweverOftenTheFileIsMerged(seed: UInt64) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    var (generator, model) = (SeededGenerator(seed: seed), AccessTable())
    for _ in 0..<40 {
      let records = (0..<Int.random(in: 1...900, using: &generator)).map { _ in
        Self.record(
          .random(in: 0..<5_000, using: &generator) &* 0x9E37_79B9_7F4A_7C15, .random(in: 0..<1_000, using: &generator),
          .random(in: 1...3, using: &generator))
      }
      for record in records { model.add(record) }
      try FileAccessLog(UsageFile(path: path), capacity: 10_000).add(records)
    }
    let snapshot = try FileAccessLog(UsageFile(path: path), capacity: 10_000).snapshot()
    for number in UInt64(0)..<5_000 {
      let digest = number &* 0x9E37_79B9_7F4A_7C15
      #expect(snapshot.history(of: digest) == model.history(of: digest), "seed \(seed), \(number)")
    }
    // The sorted part once, a tail of 64 KiB at most, and the head.
    #expect(try Self.size(path) <= 5_000 * AccessRecord.size + (64 << 10) + AccessRecord.size)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.folder) == ["x.uses"])
  }

  @Test func nothingIsLostWhereManyAddAtOnce() async throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let log = FileAccessLog(UsageFile(path: path), capacity: 10_000)
          for round in UInt64(0)..<40 {
            try log.add((0..<100).map { Self.record(round &* 100 &+ $0) })
            _ = try log.snapshot().history(of: round)
          }
        }
      }
      try await group.waitForAll()
    }
    let snapshot = try FileAccessLog(UsageFile(path: path), capacity: 10_000).snapshot()
    #expect((UInt64(0)..<4_000).allSatisfy { snapshot.history(of: $0)?.count == 8 })
  }

  @Test func aDamagedRecordIsAbsentAndTheOthersAreNot() throws {
    let home = try TestHome()
    let (path, other) = (home.folder + "/x.uses", home.folder + "/y.uses")
    // Enough to be merged at once, and a few more behind.
    try FileAccessLog(UsageFile(path: path), capacity: 10_000).add((UInt64(0)..<2_100).map { Self.record($0) })
    try FileAccessLog(UsageFile(path: path), capacity: 10_000).add((UInt64(2_100)..<2_110).map { Self.record($0) })
    let whole = try Data(contentsOf: URL(filePath: path))
    #expect(whole.count == (1 + 2_110) * AccessRecord.size)
    for offset in stride(from: AccessRecord.size + 8, to: whole.count, by: 1_001) where offset % 32 >= 8 {
      var damaged = whole
      damaged[offset] ^= 0x40
      try damaged.write(to: URL(filePath: other))
      let snapshot = try FileAccessLog(UsageFile(path: other), capacity: 10_000).snapshot()
      let lost = (UInt64(0)..<2_110).filter { snapshot.history(of: $0)?.count != 1 }
      #expect(lost == [UInt64(offset / 32 - 1)], "offset \(offset)")
    }
  }

  @Test(arguments: [1, 17, 31, 32, 33, 63, 64, 65, 100, 127])
  func aTornFileIsReadAsFarAsItGoesAndPutRight(length: Int) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    try FileAccessLog(UsageFile(path: path), capacity: 10).add([Self.record(1), Self.record(2), Self.record(3)])
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.prefix(length).write(to: URL(filePath: path))
    let log = FileAccessLog(UsageFile(path: path), capacity: 10)
    let left = max(0, length / 32 - 1)
    #expect((UInt64(1)...3).filter { (try? log.snapshot().history(of: $0)) != nil }.count == left)
    try log.add([Self.record(9)])
    #expect(try log.snapshot().history(of: 9)?.count == 1)
    #expect((UInt64(1)...3).filter { (try? log.snapshot().history(of: $0)) != nil }.count == left)
    #expect(try Self.size(path) % 32 == 0)
  }

  @Test(arguments: ["", "x", "hits=1 misses=2", String(repeating: "\u{0}", count: 640)])
  func aFileOfAnotherKindCountsAsEmptyAndIsReplaced(text: String) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    try Data(text.utf8).write(to: URL(filePath: path))
    let log = FileAccessLog(UsageFile(path: path), capacity: 10)
    #expect(try log.snapshot().history(of: 0) == nil)
    try log.add([Self.record(5)])
    #expect(try log.snapshot().history(of: 5)?.count == 1)
  }

  @Test func whatWasUsedTheLongestAgoIsForgotten() throws {
    let home = try TestHome()
    let log = FileAccessLog(UsageFile(path: home.folder + "/x.uses"), capacity: 3_000)
    for start in stride(from: UInt64(0), to: 12_000, by: 3_000) {
      try log.add((start..<start + 3_000).map { Self.record($0, Int64($0)) })
    }
    let snapshot = try log.snapshot()
    #expect((UInt64(0)..<12_000).filter { snapshot.history(of: $0) != nil } == Array(9_000..<12_000))
  }

  @Test func whatCannotBeReadIsAnErrorAndNotEmpty() throws {
    let home = try TestHome()
    let (link, folder) = (home.folder + "/link.uses", home.folder + "/folder.uses")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for path in [link, folder, home.folder + "/" + String(repeating: "x", count: 300)] {
      let log = FileAccessLog(UsageFile(path: path), capacity: 10)
      let errors = [
        #expect(throws: CacheError.self) { _ = try log.snapshot() },
        #expect(throws: CacheError.self) { try log.add([Self.record(1)]) },
      ]
      for error in errors {
        #expect(error?.code.rawValue == "ioFailed")
        #expect(error?.message.hasPrefix(path) == true)
      }
    }
  }
}
