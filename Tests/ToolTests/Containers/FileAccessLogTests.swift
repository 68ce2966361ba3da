import EngineSupport
import FetchVocabulary
import Foundation
import CacheCore
import StorageConformance
import StorageSPI
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

struct FileAccessLogTests {
  private static func record(_ digest: UInt64, _ last: Int64 = 1, _ count: Int64 = 1) -> AccessRecord {
    AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count))
  }

  private static func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  /// Digests are spread over all numbers.
  private static func digest(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }

  /// How often the entries `0..<count` were used.
  private static func counts(_ path: String, _ count: UInt64) throws -> [Int64] {
    try FileAccessLog(UsageFile(path: path), capacity: 10_000).histories(of: (0..<count).map(digest)).map(\.count)
  }

  @Test func aFileThatIsTruncatedWhileItIsUsedEndsNothing() throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    let log = FileAccessLog(UsageFile(path: path), capacity: 10_000)
    try log.add((0..<2_000).map { Self.record(Self.digest($0)) })
    #expect(truncate(path, 0) == 0)
    #expect(try Self.counts(path, 2_000).allSatisfy { $0 == 0 })
    try log.add([Self.record(Self.digest(7))])
    #expect(try Self.counts(path, 9).enumerated().allSatisfy { ($0 == 7) == ($1 == 1) })
  }

  /// An engine creates the file with its mark, before the first byte of a store.
  @Test func theMarkOfAStoreIsATableWithoutRecords() throws {
    let home = try TestHome()
    let mark = StoreMark(ofFile: home.folder + "/x")
    try mark.create()
    #expect(try Self.size(mark.path) == AccessRecord.size)
    #expect(try Self.counts(mark.path, 9).allSatisfy { $0 == 0 })
    let log = FileAccessLog(UsageFile(path: mark.path), capacity: 10_000)
    try log.add([Self.record(Self.digest(7))])
    #expect(try Self.counts(mark.path, 9).enumerated().allSatisfy { ($0 == 7) == ($1 == 1) })
    try log.add((0..<2_000).map { Self.record(Self.digest($0)) })
    #expect(mark.isPresent, "a larger table is a mark, too")
  }

  @Test func usesAddUpOverHandles() throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    #expect(try FileAccessLog(UsageFile(path: path), capacity: 10).histories(of: [1]) == [AccessHistory()])
    try FileAccessLog(UsageFile(path: path), capacity: 10).add([])
    #expect(!FileManager.default.fileExists(atPath: home.home), "nothing is written where nothing was used")
    let reader = FileAccessLog(UsageFile(path: path), capacity: 10)
    for round in 1...3 {
      try FileAccessLog(UsageFile(path: path), capacity: 10).add([Self.record(1, Int64(round)), Self.record(2, 7, 5)])
      #expect(
        try reader.histories(of: [2, 3, 1]) == [
          Self.record(2, 7, Int64(5 * round)).history, AccessHistory(),
          Self.record(1, Int64(round), Int64(round)).history,
        ])
    }
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func whatWasAddedIsFoundHoweverTheFileGrows(seed: UInt64) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    var (generator, model) = (SeededGenerator(seed: seed), AccessTable())
    for _ in 0..<40 {
      let records = (0..<Int.random(in: 1...900, using: &generator)).map { _ in
        Self.record(
          Self.digest(.random(in: 0..<5_000, using: &generator)), .random(in: 0..<1_000, using: &generator),
          .random(in: 1...3, using: &generator))
      }
      for record in records { model.add(record) }
      try FileAccessLog(UsageFile(path: path), capacity: 10_000).add(records)
    }
    let digests = (UInt64(0)..<5_000).map(Self.digest)
    let found = try FileAccessLog(UsageFile(path: path), capacity: 10_000).histories(of: digests)
    for (digest, history) in zip(digests, found) {
      #expect(history == model.history(of: digest) ?? AccessHistory(), "seed \(seed)")
    }
    // No more than a quarter full after it grew, and no larger than it may become.
    #expect(try Self.size(path) <= (1 + 128) * 4_096)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.folder) == ["x.uses"])
  }

  /// A process that starts anew reads and writes two blocks of the file, however large it is.
  @Test func aSmallFileIsSmall() throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    try FileAccessLog(UsageFile(path: path), capacity: 1 << 20).add((0..<90).map { Self.record(Self.digest($0)) })
    #expect(try Self.size(path) == 2 * 4_096)
    try FileAccessLog(UsageFile(path: path), capacity: 1 << 20).add((90..<100).map { Self.record(Self.digest($0)) })
    #expect(try Self.size(path) == 5 * 4_096)
    #expect(try Self.counts(path, 100).allSatisfy { $0 == 1 })
  }

  @Test func nothingIsLostWhereManyAddAtOnce() async throws {
    let home = try TestHome()
    let path = home.home + "/x.uses"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let log = FileAccessLog(UsageFile(path: path), capacity: 10_000)
          for round in UInt64(0)..<40 {
            try log.add((0..<100).map { Self.record(Self.digest(round &* 100 &+ $0)) })
            _ = try log.histories(of: [Self.digest(round)])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Self.counts(path, 4_000).allSatisfy { $0 == 8 })
  }

  @Test func aDamagedRecordIsAbsentAndTheOthersAreNot() throws {
    let home = try TestHome()
    let (path, other) = (home.folder + "/x.uses", home.folder + "/y.uses")
    try FileAccessLog(UsageFile(path: path), capacity: 10_000).add((0..<2_000).map { Self.record(Self.digest($0)) })
    let whole = try Data(contentsOf: URL(filePath: path))
    for offset in stride(from: 4_096 + 8, to: whole.count, by: 1_001) where offset % 32 >= 8 {
      var damaged = whole
      let record = offset / 32 * 32
      let isRecord = damaged[record..<record + 32].contains { $0 != 0 }
      damaged[offset] ^= 0x40
      try damaged.write(to: URL(filePath: other))
      let lost = try Self.counts(other, 2_000).count { $0 != 1 }
      #expect(lost == (isRecord ? 1 : 0), "offset \(offset)")
    }
  }

  @Test(arguments: [1, 17, 31, 32, 4_095, 4_096, 4_100, 4_128, 4_160, 4_191, 4_192, 8_191])
  func aTornFileIsReadAsFarAsItGoesAndPutRight(length: Int) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    try FileAccessLog(UsageFile(path: path), capacity: 10).add([Self.record(1), Self.record(2), Self.record(3)])
    let whole = try Data(contentsOf: URL(filePath: path))
    try whole.prefix(length).write(to: URL(filePath: path))
    let log = FileAccessLog(UsageFile(path: path), capacity: 10)
    let left = min(3, max(0, (length - 4_096) / 32))
    #expect(try log.histories(of: [1, 2, 3]).count { $0.count == 1 } == left)
    try log.add([Self.record(9)])
    #expect(try log.histories(of: [9]).first?.count == 1)
    #expect(try log.histories(of: [1, 2, 3]).count { $0.count == 1 } == left)
    #expect(try Self.size(path) == 2 * 4_096)
  }

  @Test(arguments: ["", "x", "hits=1 misses=2", String(repeating: "\u{0}", count: 640)])
  func aFileOfAnotherKindCountsAsEmptyAndIsReplaced(text: String) throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    try Data(text.utf8).write(to: URL(filePath: path))
    let log = FileAccessLog(UsageFile(path: path), capacity: 10)
    #expect(try log.histories(of: [0]) == [AccessHistory()])
    try log.add([Self.record(5)])
    #expect(try log.histories(of: [5]).first?.count == 1)
  }

  @Test func whatWasUsedTheLongestAgoIsForgotten() throws {
    let home = try TestHome()
    let path = home.folder + "/x.uses"
    let log = FileAccessLog(UsageFile(path: path), capacity: 3_000)
    for start in stride(from: UInt64(0), to: 12_000, by: 3_000) {
      try log.add((start..<start + 3_000).map { Self.record(Self.digest($0), Int64($0)) })
    }
    let known = try log.histories(of: (0..<12_000).map(Self.digest))
    #expect(known[9_000...].allSatisfy { $0.count == 1 })
    #expect(known[..<6_000].allSatisfy { $0.count == 0 })
    #expect(try Self.size(path) == (1 + 32) * 4_096)
  }

  @Test func thePlaceOfEvictionsComesBack() throws {
    let home = try TestHome()
    let log = FileSweepLog(file: UsageFile(path: home.home + "/x.sweep"))
    #expect(log.load() == nil)
    for text in ["sweep-2\n", "sweep-2 is longer\nof two lines\n", "sweep-2\n"] {
      try log.save(text)
      #expect(log.load() == text)
    }
    try Data([0xFF, 0xFE]).write(to: URL(filePath: home.home + "/x.sweep"))
    #expect(log.load() == nil)
  }

  @Test func whatCannotBeReadIsAnErrorAndNotEmpty() throws {
    let home = try TestHome()
    let (link, folder) = (home.folder + "/link.uses", home.folder + "/folder.uses")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    for path in [link, folder, home.folder + "/" + String(repeating: "x", count: 300)] {
      let log = FileAccessLog(UsageFile(path: path), capacity: 10)
      let errors = [
        #expect(throws: CacheError.self) { _ = try log.histories(of: [1]) },
        #expect(throws: CacheError.self) { try log.add([Self.record(1)]) },
      ]
      for error in errors {
        #expect(error?.code.rawValue == "ioFailed")
        #expect(error?.message.hasPrefix(path) == true)
      }
    }
  }
}
