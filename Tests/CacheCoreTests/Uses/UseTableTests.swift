import EngineAPI
import FetchVocabulary
import Foundation
import EngineConformance
import Testing

@testable import CacheCore

/// The file next to a store.
@Suite final class UseTableTests {
  private let folder = NSTemporaryDirectory() + "use-table-" + UUID().uuidString

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var path: String { folder + "/x.uses" }

  private func table(_ capacity: Int = 10_000, at path: String? = nil) -> UseTable {
    UseTable(path: path ?? self.path, capacity: capacity)
  }

  private static func record(_ digest: UInt64, _ last: Int64 = 1, _ count: Int64 = 1) -> AccessRecord {
    AccessRecord(digest: digest, history: AccessHistory(lastUsedAt: Timestamp(milliseconds: last), count: count))
  }

  private func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  private func content() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

  private func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: path)) }

  /// Digests are spread over all numbers.
  private static func digest(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }

  /// How often the entries `0..<count` were used.
  private func uses(_ count: UInt64) throws -> [Int64] {
    try table().histories(of: (0..<count).map(Self.digest)).map(\.count)
  }

  private static let sweep = EvictionSweep(
    stretches: [.init(position: "a/1", end: try? CacheKey("a/2")), .init(position: "a/2", isDone: true)], turn: 3,
    spacing: 32)

  @Test func aFileThatIsTruncatedWhileItIsUsedEndsNothing() throws {
    try table().add((0..<2_000).map { Self.record(Self.digest($0)) })
    #expect(truncate(path, 0) == 0)
    #expect(try uses(2_000).allSatisfy { $0 == 0 })
    try table().add([Self.record(Self.digest(7))])
    #expect(try uses(9).enumerated().allSatisfy { ($0 == 7) == ($1 == 1) })
  }

  /// An engine creates the file with its mark, before the first byte of a store.
  @Test func theMarkOfAStoreIsATableWithoutRecords() throws {
    let mark = StoreMark(ofFile: folder + "/x")
    try mark.create()
    let created = try content()
    #expect(created.count == 72)
    #expect(try uses(9).allSatisfy { $0 == 0 } && table().counts() == OperationCounts())
    try table().add([])
    #expect(try content() == created, "the engine writes the head as the core does")
    try table().add([Self.record(Self.digest(7))])
    #expect(try uses(9).enumerated().allSatisfy { ($0 == 7) == ($1 == 1) })
    try table().add((0..<2_000).map { Self.record(Self.digest($0)) }, OperationCounts(hits: 1), sweep: Self.sweep)
    #expect(mark.isPresent, "a larger table is a mark, too")
  }

  @Test func usesAndCountsAddUpOverHandles() throws {
    #expect(try table(10).histories(of: [1]) == [AccessHistory()])
    #expect(!FileManager.default.fileExists(atPath: path), "reading creates nothing")
    let reader = table(10)
    for round in 1...3 {
      try table(10).add(
        [Self.record(1, Int64(round)), Self.record(2, 7, 5)], OperationCounts(hits: 1, misses: 2, evictions: 3))
      #expect(
        try reader.histories(of: [2, 3, 1]) == [
          Self.record(2, 7, Int64(5 * round)).history, AccessHistory(),
          Self.record(1, Int64(round), Int64(round)).history,
        ])
      #expect(try reader.counts() == OperationCounts(hits: round, misses: 2 * round, evictions: 3 * round))
    }
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(permissions == 0o600)
  }

  @Test func theLargestNumbersFit() throws {
    let largest = OperationCounts(hits: .max, misses: .max, evictions: .max)
    for _ in 0..<2 {
      try table().add([], largest)
      #expect(try table().counts() == largest)
    }
  }

  /// The folder of a store on a server has not been created.
  @Test func theFolderIsCreatedForTheUserAlone() throws {
    let deep = folder + "/a/b/x.uses"
    try table(at: deep).add([], OperationCounts(hits: 1))
    for (path, mode) in [("/a", 0o700), ("/a/b", 0o700), ("/a/b/x.uses", 0o600)] {
      #expect(try FileManager.default.attributesOfItem(atPath: folder + path)[.posixPermissions] as? Int == mode)
    }
  }

  @Test(arguments: [UInt64(1), 2, 3]) func addedRecordsAreFoundHoweverTheFileGrows(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var model: [UInt64: AccessHistory] = [:]
    for round in 0..<40 {
      let records = (0..<Int.random(in: 1...900, using: &generator)).map { _ in
        Self.record(
          Self.digest(.random(in: 0..<5_000, using: &generator)), .random(in: 0..<1_000, using: &generator),
          .random(in: 1...3, using: &generator))
      }
      for record in records { model[record.digest] = (model[record.digest] ?? AccessHistory()) + record.history }
      try table().add(records, OperationCounts(misses: 1), sweep: round == 0 ? Self.sweep : nil)
      #expect(table().sweep() == Self.sweep, "round \(round): the place moves with the blocks")
    }
    let digests = (UInt64(0)..<5_000).map(Self.digest)
    for (digest, history) in zip(digests, try table().histories(of: digests)) {
      #expect(history == model[digest] ?? AccessHistory(), "seed \(seed)")
    }
    #expect(try table().counts() == OperationCounts(misses: 40))
    // No more than a quarter full after it grew, and no larger than it may become.
    #expect(try size(path) <= (1 + 128) * 4_096 + Self.sweep.text.utf8.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["x.uses"])
  }

  /// A process that starts reads and writes two blocks of the file, however large it is.
  @Test func aSmallFileIsSmall() throws {
    try table(1 << 20).add((0..<90).map { Self.record(Self.digest($0)) })
    #expect(try size(path) == 2 * 4_096)
    try table(1 << 20).add((90..<100).map { Self.record(Self.digest($0)) })
    #expect(try size(path) == 5 * 4_096)
    #expect(try uses(100).allSatisfy { $0 == 1 })
  }

  /// A file that was made longer before its head was on disk has none after a loss of power, and would be someone else's.
  @Test func theFileEndsWithItsLastBlock() throws {
    // All of them in the first of two blocks.
    try table(1 << 20).add((1...100).map { Self.record($0) })
    #expect(try size(path) == 2 * 4_096)
    #expect(try table(1 << 20).histories(of: Array(1...100)).allSatisfy { $0.count == 1 })
    #expect(try table(1 << 20).histories(of: [.max]) == [AccessHistory()])
    try table(1 << 20).add([Self.record(.max)], sweep: Self.sweep)
    #expect(try size(path) == 3 * 4_096 + Self.sweep.text.utf8.count)
    #expect(try table(1 << 20).histories(of: [1, .max]).map(\.count) == [1, 1])
    #expect(table(1 << 20).sweep() == Self.sweep)
  }

  @Test func nothingIsLostIfManyAddAtOnce() async throws {
    let table = table()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for round in UInt64(0)..<40 {
            try table.add(
              (0..<100).map { Self.record(Self.digest(round &* 100 &+ $0)) },
              OperationCounts(hits: 1, misses: 2, evictions: Int(round % 2)), sweep: Self.sweep)
            _ = try table.histories(of: [Self.digest(round)])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try uses(4_000).allSatisfy { $0 == 8 })
    #expect(try table.counts() == OperationCounts(hits: 320, misses: 640, evictions: 160))
  }

  @Test func aDamagedRecordIsAbsentAndTheOthersAreNot() throws {
    try table().add((0..<2_000).map { Self.record(Self.digest($0)) })
    let whole = try content()
    for offset in stride(from: 4_096 + 8, to: whole.count, by: 1_001) where offset % 32 >= 8 {
      var damaged = whole
      let record = offset / 32 * 32
      let isRecord = damaged[record..<record + 32].contains { $0 != 0 }
      damaged[offset] ^= 0x40
      try write(damaged)
      #expect(try uses(2_000).count { $0 != 1 } == (isRecord ? 1 : 0), "offset \(offset)")
    }
  }

  /// The file stays ours, and says nothing wrong.
  @Test func aDamagedHeadIsAnEmptyTable() throws {
    try table().add([Self.record(1)], OperationCounts(hits: 7), sweep: Self.sweep)
    let whole = try content()
    for offset in 8..<72 {
      for bit in 0..<8 {
        var damaged = whole
        damaged[offset] ^= 1 << bit
        try write(damaged)
        #expect(try table().histories(of: [1]) == [AccessHistory()] && table().counts() == OperationCounts())
        #expect(table().sweep() == nil, "byte \(offset)")
      }
    }
    try table().add([Self.record(9)], OperationCounts(misses: 1))
    #expect(try table().histories(of: [1, 9]).map(\.count) == [0, 1])
    #expect(try table().counts() == OperationCounts(misses: 1))
  }

  @Test func theTextOfTheSweepIsCompleteOrAbsent() throws {
    try table().add([Self.record(1)], OperationCounts(hits: 7), sweep: Self.sweep)
    let whole = try content()
    let start = whole.count - Self.sweep.text.utf8.count
    #expect(table().sweep() == Self.sweep)
    for offset in start..<whole.count {
      for other in [
        whole[offset] ^ 1, UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\n"), 0xFF,
      ] where other != whole[offset] {
        var damaged = whole
        damaged[offset] = other
        try write(damaged)
        #expect(table().sweep() == nil, "offset \(offset), byte \(other)")
      }
      try write(whole.prefix(offset))
      #expect(table().sweep() == nil, "\(offset) bytes")
    }
    #expect(try table().histories(of: [1]).first?.count == 1)
    #expect(try table().counts() == OperationCounts(hits: 7))
    let longer = EvictionSweep(at: try CacheKey("a/" + String(repeating: "x", count: 300)))
    for sweep in [longer, Self.sweep] {
      try table().add([], sweep: sweep)
      #expect(table().sweep()?.text == sweep.text)
    }
  }

  @Test(arguments: [8, 17, 71, 72, 4_095, 4_096, 4_100, 4_128, 4_160, 4_191, 4_192, 8_191])
  func aTornFileIsReadUpToTheTearAndRepaired(length: Int) throws {
    try table(10).add([Self.record(1), Self.record(2), Self.record(3)])
    try write(try content().prefix(length))
    let left = min(3, max(0, (length - 4_096) / 32))
    #expect(try table(10).histories(of: [1, 2, 3]).count { $0.count == 1 } == left)
    try table(10).add([Self.record(9)])
    #expect(try table(10).histories(of: [9]).first?.count == 1)
    #expect(try table(10).histories(of: [1, 2, 3]).count { $0.count == 1 } == left)
    #expect(try size(path) == 2 * 4_096)
  }

  @Test(arguments: ["x", "hits=1 misses=2", "1234567", String(repeating: "\u{0}", count: 640)])
  func aFileOfSomeoneElseIsNeitherReadNorChanged(text: String) throws {
    try write(Data(text.utf8))
    #expect(try table().histories(of: [0]) == [AccessHistory()])
    #expect(try table().counts() == OperationCounts() && table().sweep() == nil)
    let error = #expect(throws: CacheError.self) {
      try table().add([Self.record(5)], OperationCounts(hits: 1), sweep: Self.sweep)
    }
    #expect(error?.code == .cannotCreate && error?.message.contains(path) == true)
    #expect(error?.hint == "move it away: the use of the store is counted in a file there")
    #expect(try content() == Data(text.utf8))
  }

  /// Growing needs no other file. So no foreign file is in the way.
  @Test func aFileWithTheNameOfANewOneIsNotChanged() throws {
    let new = path + ".new"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: new))
    for round in UInt64(0)..<4 { try table().add((0..<1_000).map { Self.record(Self.digest(round &* 1_000 &+ $0)) }) }
    #expect(try uses(4_000).allSatisfy { $0 == 1 })
    #expect(try Data(contentsOf: URL(fileURLWithPath: new)) == Data("mine".utf8))
  }

  @Test func theLeastRecentlyUsedIsForgotten() throws {
    let table = table(3_000)
    for start in stride(from: UInt64(0), to: 12_000, by: 3_000) {
      try table.add((start..<start + 3_000).map { Self.record(Self.digest($0), Int64($0)) })
    }
    let known = try table.histories(of: (0..<12_000).map(Self.digest))
    #expect(known[9_000...].allSatisfy { $0.count == 1 })
    #expect(known[..<6_000].allSatisfy { $0.count == 0 })
    #expect(try size(path) == (1 + 32) * 4_096)
  }

  @Test func aProcessThatIsSuspendedWithTheLockStopsNoOtherForEver() throws {
    var table = table()
    table.patience = .milliseconds(5)
    try table.add([], OperationCounts(hits: 1))
    let other = open(path, O_RDWR)
    #expect(flock(other, LOCK_EX) == 0)
    for change in [true, false] {
      let error = #expect(throws: CacheError.self) {
        if change { try table.add([], OperationCounts(hits: 1)) } else { _ = try table.counts() }
      }
      #expect(error?.code == .busy && error?.message.contains("cannot lock \(path)") == true)
    }
    // Another test may be starting a program, which has the descriptor too.
    flock(other, LOCK_UN)
    close(other)
    #expect(try table.counts() == OperationCounts(hits: 1))
  }

  @Test func unreadableFilesAreErrorsAndNotEmpty() throws {
    let (link, inner) = (folder + "/link.uses", folder + "/folder.uses")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
    for path in [link, inner, folder + "/" + String(repeating: "x", count: 300)] {
      let errors = [
        #expect(throws: CacheError.self) { _ = try table(at: path).histories(of: [1]) },
        #expect(throws: CacheError.self) { _ = try table(at: path).counts() },
        #expect(throws: CacheError.self) { try table(at: path).add([Self.record(1)]) },
      ]
      for error in errors {
        #expect(error?.code.rawValue == "cannotCreate")
        #expect(error?.message.contains(path) == true)
      }
    }
  }

  /// A library can be given a relative path, and its program can change the working directory while the store is open.
  @Test func thePathDoesNotDependOnTheWorkingDirectoryOfLater() throws {
    let engine = EngineDeclaration(
      name: "file", version: "1", summary: "for tests", capabilities: [.persistent],
      options: [EngineOption("path", .path, default: .text("x"), help: "where")])
    func path(_ path: String) throws -> String? {
      let configuration = try EngineConfiguration(
        for: engine, values: ["path": .text(path)], clock: ManualClock(Timestamp(milliseconds: 0)))
      return UseTable(of: engine, configuration, home: nil, maxEntries: 0)?.path
    }
    #expect(try path("no-such-store") == FileManager.default.currentDirectoryPath + "/no-such-store.uses")
    #expect(try path(folder + "/store/") == folder + "/store.uses")
  }

  /// The address and the name identify a store on a server; the login does not.
  @Test func storesOnServersHaveTheirOwnFiles() {
    let engine = EngineDeclaration(
      name: "server", version: "1", summary: "for tests", capabilities: [.persistent],
      options: [
        EngineOption("url", .text, default: .text("redis://127.0.0.1"), help: "where"),
        EngineOption("user", .text, default: .text(""), help: "who"),
        EngineOption("prefix", .storeName, default: .text("cachectl"), help: "which"),
      ])
    func path(_ values: [String: OptionValue]) -> String? {
      UseTable.storePath(of: engine, { values[$0] }, home: "/home")
    }
    let usual: [String: OptionValue] = ["url": .text("redis://127.0.0.1"), "prefix": .text("cachectl")]
    #expect(path(usual) == "/home/server" && path([:]) == path(usual))
    #expect(path(usual.merging(["user": .text("ada")]) { $1 }) == path(usual))
    #expect(UseTable.storePath(of: engine, { usual[$0] }, home: nil) == nil)
    let others: [[String: OptionValue]] = [
      ["url": .text("redis://10.0.0.1")], ["url": .text("redis://127.0.0.1/2")], ["prefix": .text("other")],
      ["url": .text("redis://10.0.0.1"), "prefix": .text("other")],
    ]
    let paths = others.map { path(usual.merging($0) { $1 }) }
    #expect(Set(paths + [path(usual)]).count == 5)
  }
}
