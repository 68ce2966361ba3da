import EngineSupport
import Foundation
import SeededNumbers
import StorageSPI
import Testing

@testable import PlistStorage

extension TemporaryFolder {
  /// Repairs the store. An entry is sound where it is one of `sound`; any is where there is none.
  func repair(
    sound: [CacheKey: EntryTable.Entry]? = nil, fileSystem: any FileSystem = SystemFileSystem()
  ) throws -> RepairReport {
    let plan = RepairPlan(suffix: ".damaged") { key, bytes, metadata in
      guard let entry = sound?[key] else { return sound == nil }
      return entry.payload == bytes.indices.map { bytes[$0] } && entry.metadata == metadata
    }
    return try PlistRepair(PlistOptions(path: store), plan, fileSystem: fileSystem, timer: FakeTimer()).run()
  }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
  }
}

@Suite struct RepairTests {
  private static let contents = [
    "a/1": "text\n", "a/2": "\"a/9\": {\"storedAt\": \"x\"}", "a/3": "more", "b/1": "kept",
  ]

  private func store() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try await folder.open().put(Self.contents)
    return folder
  }

  private func entries(_ folder: TemporaryFolder) async throws -> [CacheKey: EntryTable.Entry] {
    let engine = try await folder.open()
    var entries: [CacheKey: EntryTable.Entry] = [:]
    for key in Self.contents.keys { entries[try CacheKey(key)] = try await engine.entry(try CacheKey(key)) }
    return entries
  }

  @Test func aSoundStoreStaysAsItIs() async throws {
    let folder = try await store()
    let before = try FileManager.default.attributesOfItem(atPath: folder.file("a.json"))[.systemFileNumber] as? Int
    let report = try folder.repair()
    #expect((report.saved, report.lost, report.movedTo) == (4, [], []))
    let after = try FileManager.default.attributesOfItem(atPath: folder.file("a.json"))[.systemFileNumber] as? Int
    #expect(before == after)
    #expect(try folder.names() == ["a.json", "b.json", "store.lock"])
  }

  @Test func whereNothingIsNothingIsMade() throws {
    let folder = try TemporaryFolder()
    #expect(try folder.repair().saved == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  /// What is replaced by what in `a.json`, the saved keys, and the keys reported as lost.
  static let damages: [(from: String, to: String, saved: [String], lost: [String?])] = [
    ("\"a/2\": {", "\"a/2\": [", ["a/1", "a/3", "b/1"], [nil]),
    ("\"text\\n\"", "\"text\\n", ["a/2", "a/3", "b/1"], ["a/1"]),
    ("\"a/2\": {", "\"a/2: {", ["a/1", "a/3", "b/1"], [nil]),
    ("\"a/2\": {", "\"A/2\": {", ["a/1", "a/3", "b/1"], [nil]),
    ("\"format\"", "\"form\"", ["a/1", "a/2", "a/3", "b/1"], []),
    ("\"namespace\": \"a\"", "\"namespace\": \"b\"", ["a/1", "a/2", "a/3", "b/1"], []),
    ("\"format\": 1", "\"format\": 9", ["a/1", "a/2", "a/3", "b/1"], []),
    ("  }\n}\n", "", ["a/1", "a/2", "a/3", "b/1"], [nil]),
    ("},\n    \"a/3\"", "}\n    \"a/3\"", ["a/1", "a/2", "a/3", "b/1"], []),
    ("\"more\"", "\"mere\"", ["a/1", "a/2", "b/1"], ["a/3"]),
    ("\"a/3\"", "\"a/4\"", ["a/1", "a/2", "b/1"], ["a/4"]),
    ("\"a/2\"", "\"a/3\"", ["a/1", "a/3", "b/1"], [nil]),
    ("\"a/2\"", "\"a/1\"", ["a/1", "a/3", "b/1"], [nil]),
    ("\"entries\": {", "\"entries\": {\n\"a/1\": {},", ["a/1", "a/2", "a/3", "b/1"], [nil]),
  ]

  @Test(arguments: damages)
  func everythingThatCanBeReadIsSaved(from: String, to: String, saved: [String], lost: [String?]) async throws {
    let folder = try await store()
    let sound = try await entries(folder)
    let text = try folder.text("a.json")
    let damaged = text.replacing(from, with: to, maxReplacements: 1)
    #expect(damaged != text)
    try folder.write(damaged, to: "a.json")
    let report = try folder.repair(sound: sound)
    #expect(report.saved == saved.count)
    #expect(report.lost.map { $0.key?.text } == lost)
    #expect(report.lost.isEmpty == !report.mended.isEmpty)
    #expect((report.lost + report.mended).allSatisfy { $0.message.contains("a.json") && !$0.message.contains("\n") })
    #expect(report.movedTo == [folder.file("a.json.damaged")])
    #expect(try folder.text("a.json.damaged") == damaged)
    let engine = try await folder.open()
    #expect(try await engine.contents() == Self.contents.filter { saved.contains($0.key) })
    #expect(try await engine.checkIntegrity() == [])
    #expect(try folder.repair(sound: sound).movedTo == [])
  }

  @Test func aDryRunChangesNothing() async throws {
    let folder = try await store()
    let sound = try await entries(folder)
    try await folder.open().put(["c/1": "x", "d/1": "x"])
    try FileManager.default.removeItem(atPath: folder.file("d.json"))
    try folder.write(try folder.text("a.json").replacing("\"more\"", with: "\"mere\""), to: "a.json.new")
    try folder.write("cachectl plist batch 1\nreplace a\nremove b\nend\n", to: "batch.journal")
    try folder.write("{", to: "c.json")
    try folder.makeFolder("d.json")
    let names = try folder.names()
    let plan = RepairPlan(suffix: ".damaged") { key, bytes, metadata in sound[key]?.metadata == metadata }
    let preview = try PlistRepair(PlistOptions(path: folder.store), plan, timer: FakeTimer()).preview()
    #expect(preview.saved == 3 && preview.movedTo.isEmpty && preview.lost.count == 2, "\(preview)")
    #expect(try folder.names() == names && folder.text("c.json") == "{")
    let report = try PlistRepair(PlistOptions(path: folder.store), plan, timer: FakeTimer()).run()
    #expect(Set(report.lost) == Set(preview.lost) && report.saved == preview.saved)
  }

  @Test func eachDamagedFileKeepsItsOwnName() async throws {
    let folder = try await store()
    for (number, name) in ["a.json.damaged", "a.json.damaged-2", "a.json.damaged-3"].enumerated() {
      try folder.write("{\(number)", to: "a.json")
      let report = try folder.repair()
      #expect(report.movedTo == [folder.file(name)])
      #expect(report.lost.map(\.kind) == [.structure])
      #expect(try folder.text(name) == "{\(number)")
      #expect(try !folder.names().contains("a.json"))
    }
    #expect(try await folder.open().contents() == ["b/1": "kept"])
  }

  @Test(arguments: ["a.json", "a.json.new", "batch.journal", "batch.journal.new", "store.lock"])
  func aFolderInThePlaceOfAFileIsMovedAside(name: String) async throws {
    let folder = try await store()
    if try folder.names().contains(name) { try FileManager.default.removeItem(atPath: folder.file(name)) }
    try folder.makeFolder(name)
    try folder.write("precious", to: name + "/note")
    let report = try folder.repair()
    #expect(report.movedTo == [folder.file(name + ".damaged")])
    #expect(report.lost.map(\.kind) == [.structure])
    #expect(report.saved == (name == "a.json" ? 1 : 4))
    #expect(try folder.text(name + ".damaged/note") == "precious")
    try await folder.open().put(["a/7": "x", "c/1": "x"])
    #expect(try await folder.open().checkIntegrity() == [])
  }

  @Test func aWholeJournalIsFinished() async throws {
    let folder = try await store()
    try folder.write(try folder.text("a.json").replacing("\"more\"", with: "\"new\""), to: "a.json.new")
    try folder.write("cachectl plist batch 1\nreplace a\nremove b\nend\n", to: "batch.journal")
    let report = try folder.repair()
    #expect((report.saved, report.lost, report.movedTo) == (3, [], []))
    #expect(try folder.names() == ["a.json", "store.lock"])
    #expect(try await folder.open().text("a/3") == "new")
  }

  @Test func aDamagedJournalIsKeptWithItsFiles() async throws {
    let folder = try await store()
    try folder.write("new", to: "a.json.new")
    try folder.write("cachectl plist batch 1\nreplace A\nend\n", to: "batch.journal")
    let report = try folder.repair()
    #expect(report.movedTo == ["batch.journal.damaged", "a.json.new.damaged"].map { folder.file($0) })
    #expect(try await folder.open().contents() == Self.contents)
    #expect(try folder.text("a.json.new.damaged") == "new")
  }

  @Test(arguments: ["a.json", "batch.journal"])
  func aLaterVersionIsRefused(name: String) async throws {
    let folder = try await store()
    let text =
      name == "a.json"
      ? try folder.text(name).replacing("\"format\": 1", with: "\"format\": 2,\n  \"index\": []")
      : "cachectl plist batch 2\nend\n"
    try folder.write(text, to: name)
    #expect(await code { _ = try folder.repair() } == .unsupportedFormat)
    #expect(try folder.text(name) == text)
  }

  @Test func aHeldLockIsBusy() async throws {
    let folder = try await store()
    try folder.write("{", to: "a.json")
    let file = try SystemFileSystem().open(folder.file("store.lock"), flags: O_RDONLY)
    #expect(try SystemFileSystem().lock(file, exclusively: false))
    #expect(await code { _ = try folder.repair() } == .busy)
    #expect(try folder.text("a.json") == "{")
    SystemFileSystem().unlock(file)
    #expect(try folder.repair().movedTo.count == 1)
  }

  /// Damages a file at random, again and again: whatever is saved is sound, and the damaged file is kept.
  @Test(arguments: 0..<40)
  func anyDamageLeavesSoundEntriesOnly(seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let folder = try await store()
    let sound = try await entries(folder)
    var bytes = try folder.bytes("a.json")
    for _ in 0..<Int.random(in: 1...4, using: &generator) { generator.damage(&bytes) }
    try folder.write(bytes, to: "a.json")
    let report = try folder.repair(sound: sound)
    let engine = try await folder.open()
    let contents = try await engine.contents()
    #expect(contents.count == report.saved && contents["b/1"] == "kept", "seed \(seed)")
    #expect(contents.allSatisfy { Self.contents[$0.key] == $0.value }, "seed \(seed)")
    #expect(try await engine.checkIntegrity() == [], "seed \(seed)")
    #expect(try folder.bytes(report.movedTo.isEmpty ? "a.json" : "a.json.damaged") == bytes, "seed \(seed)")
    #expect(!report.lost.isEmpty || contents.count == 4, "seed \(seed): an entry is missing in the report")
  }

  /// Makes each system call of a repair fail in turn, for once or for good.
  @Test(arguments: [false, true])
  func failureLeavesTheDamagedStoreOrTheRepairedOne(isDeath: Bool) async throws {
    var (number, calls) = (0, 0)
    repeat {
      number += 1
      let folder = try await store()
      let damaged = try folder.text("a.json").replacing("\"more\"", with: "more")
      try folder.write(damaged, to: "a.json")
      try folder.write("{", to: "b.json")
      let fileSystem = FaultyFileSystem(isDeath ? .death(at: number) : .once(at: number, errno: ENOSPC))
      let failure = await code { _ = try folder.repair(fileSystem: fileSystem) }
      calls = fileSystem.trace.count
      let isRepaired = try folder.text("a.json") != damaged
      #expect(failure != nil || isRepaired || number > calls, "call \(number)")
      if failure != nil, !isDeath {
        #expect(!isRepaired && failure == .noSpace, "call \(number)")
        #expect(try folder.names().filter { !$0.hasSuffix(".new") } == ["a.json", "b.json", "store.lock"])
      }
      #expect(try folder.text(isRepaired ? "a.json.damaged" : "a.json") == damaged, "call \(number)")
      _ = try folder.repair()
      let expected = Self.contents.filter { ["a/1", "a/2"].contains($0.key) }
      #expect(try await folder.open().contents() == expected, "call \(number)")
    } while number <= calls
    #expect(number > 20)
  }
}

extension SeededGenerator {
  /// Removes, doubles, overwrites or cuts off a stretch.
  fileprivate mutating func damage(_ bytes: inout [UInt8]) {
    let start = Int.random(in: 0...bytes.count, using: &self)
    let stretch = start..<min(bytes.count, start + Int.random(in: 1...200, using: &self))
    switch Int.random(in: 0..<4, using: &self) {
    case 0: bytes.removeSubrange(stretch)
    case 1: bytes.insert(contentsOf: Array(bytes[stretch]), at: Int.random(in: 0...bytes.count, using: &self))
    case 2: bytes.replaceSubrange(stretch, with: stretch.map { _ in UInt8.random(in: .min ... .max, using: &self) })
    default: bytes.removeSubrange(start...)
    }
  }
}
