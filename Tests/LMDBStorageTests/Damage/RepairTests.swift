import Foundation
import Platform
import StorageSPI
import Testing

@testable import LMDBStorage

/// Damaged stores are repaired: what can be read is saved, and nothing is thrown away.
@Suite struct RepairTests {
  static let plan = RepairPlan(suffix: ".damaged", isSound: Checked.isSound)

  static func repair(_ store: TestStore) async throws -> RepairReport {
    try await LMDBPlugin().repair(store.configuration, plan)
  }

  static func write(_ bytes: [UInt8], to store: TestStore) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: store.dataFile))
  }

  @Test func anyChangedByteCostsAtMostWhatItTouches() async throws {
    let store = try await DamageTests.makeStore()
    let (original, entries) = (try store.bytes, try await DamageTests.entries(of: store))
    let bothStates = try await DamageTests.entriesOfBothStates(of: store)
    var damaged = 0
    for place in DamageTests.interesting(original).enumerated() where place.offset % 23 == 0 {
      var changed = original
      changed[place.element] ^= [0xFF, 0x01, 0x80][place.element % 3]
      try Self.write(changed, to: store)
      let report = try await Self.repair(store)
      let engine = try await store.open()
      let found = try await engine.entries()
      for (key, entry) in found { #expect(entry == bothStates[key], "byte \(place.element), \(key)") }
      #expect(found.count >= entries.count - 1, "byte \(place.element): \(report.lost.map(\.message))")
      #expect(found.count == report.saved, "byte \(place.element)")
      #expect(found.count == entries.count || !report.lost.isEmpty, "byte \(place.element)")
      #expect(try await engine.checkIntegrity() == [], "byte \(place.element)")
      #expect(try await engine.statistics().tally == TallyTests.counted(engine), "byte \(place.element)")
      try await engine.close()
      for moved in report.movedTo {
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: moved))) == changed, "byte \(place.element)")
        try FileManager.default.removeItem(atPath: moved)
        damaged += 1
      }
    }
    #expect(damaged > 25, "\(damaged)")
  }

  @Test func soundStoreStaysAsItIs() async throws {
    let store = try await DamageTests.makeStore()
    let before = try store.bytes
    let report = try await Self.repair(store)
    #expect(report.saved == 11 && report.lost.isEmpty && report.movedTo.isEmpty)
    #expect(try store.bytes == before)
    let missing = try TestStore()
    #expect(try await Self.repair(missing).saved == 0)
    #expect(!FileManager.default.fileExists(atPath: missing.path))
  }

  @Test(arguments: Fixture.allCases) func storeOfVersionOneIsSavedWithAllMetadata(fixture: Fixture) async throws {
    let store = try fixture.copy()
    var bytes = try store.bytes
    bytes[4_096 + 16] ^= 0xFF  // A meta page; in the copies that LMDB made compact, the one that leads to everything.
    try Self.write(bytes, to: store)
    _ = try await LMDBPlugin().repair(
      store.configuration, RepairPlan(suffix: ".damaged") { _, _, _ in true })
    let engine = try await store.open()
    if fixture != .removed { try await FixtureTests.expect(engine, toHold: fixture.entries) }
    #expect(try await engine.checkIntegrity() == [])
    try await engine.close()
  }

  @Test func whatIsNoStoreIsMovedAside() async throws {
    let store = try TestStore()
    try store.mark()
    for (number, bytes) in [[], [1], [UInt8](repeating: 9, count: 20_000)].enumerated() {
      try Self.write(bytes, to: store)
      let report = try await Self.repair(store)
      #expect(report.saved == 0 && !report.lost.isEmpty)
      let aside = store.dataFile + ".damaged" + (number == 0 ? "" : "-\(number + 1)")
      #expect(report.movedTo == [aside])
      #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: aside))) == bytes)
      let engine = try await store.open()
      #expect(try await engine.keys() == [])
      try await engine.close()
    }
  }

  @Test func interruptedRepairIsDoneByTheNext() async throws {
    let store = try await DamageTests.makeStore()
    var changed = try store.bytes
    for page in 2..<changed.count / 4_096 where [1, 2].contains(changed[page * 4_096 + 10]) {
      changed[page * 4_096 + 10] = 0x40  // Not a page of a tree.
    }
    try Self.write(changed, to: store)
    // What is left by a crash just before the new store takes its place: the steps before it, done by hand.
    try FileManager.default.createDirectory(atPath: store.path + "/repair", withIntermediateDirectories: true)
    try Data(changed.prefix(9_000)).write(to: URL(fileURLWithPath: store.path + "/repair/data.mdb"))
    try FileManager.default.linkItem(atPath: store.dataFile, toPath: store.dataFile + ".damaged")
    #expect(try store.bytes == changed)
    let report = try await Self.repair(store)
    #expect(report.saved == 11 && report.movedTo == [store.dataFile + ".damaged-2"])
    for aside in [".damaged", ".damaged-2"] {
      #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: store.dataFile + aside))) == changed)
    }
    #expect(!FileManager.default.fileExists(atPath: store.path + "/repair"))
    let engine = try await store.open()
    #expect(try await engine.keys().count == 11)
    try await engine.close()
  }

  @Test func failsWhereTheStoreIsInUse() async throws {
    let store = try await DamageTests.makeStore()
    let engine = try await store.open()
    let before = try store.bytes
    #expect(await code { _ = try await Self.repair(store) } == .busy)
    try await engine.close()
    let process = try NativeToolTests.open(store)
    #expect(await code { _ = try await Self.repair(store) } == .busy)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(try store.bytes == before)
    #expect(try await Self.repair(store).saved == 11)
  }

  /// Another process repairs the store just when this one is about to lock it: what it has made of it is looked at.
  @Test func whatIsInPlaceWhenTheLockIsHeldIsRepaired() async throws {
    let (store, other) = (try await DamageTests.makeStore(), try await DamageTests.makeStore())
    let engine = try await other.open()
    try await engine.put("cities/new", [1], Checked.metadata("cities/new", [1]))
    try await engine.close()
    try Self.write(Array(store.bytes.dropLast(4_096 * 3)), to: store)
    var isReplaced = false
    let report = try LMDBRepair(store.path, Self.plan) {
      isReplaced = rename(other.dataFile, store.dataFile) == 0
    }.run()
    #expect(isReplaced)
    #expect(report.saved == 12 && report.movedTo.isEmpty)
    let again = try await store.open()
    #expect(try await again.payload("cities/new") == [1])
    try await again.close()
  }

  @Test func inspectionChangesNothing() async throws {
    let (plugin, store) = (LMDBPlugin(), try Fixture.mixed.copy())
    let missing = try TestStore()
    let nothing = try await plugin.inspect(missing.configuration)
    #expect(nothing == StoreInspection(path: missing.path, files: [], format: nil, currentFormat: 2))
    #expect(!FileManager.default.fileExists(atPath: missing.path))
    let inspection = try await plugin.inspect(store.configuration)
    #expect(inspection == StoreInspection(path: store.path, files: [store.dataFile], format: 1, currentFormat: 2))
    try await store.open().put("cities/new")
    #expect(try await plugin.inspect(store.configuration).format == 2)
    #expect(try await plugin.inspect(store.configuration).files.count == 2)
    try Self.write([1, 2, 3], to: store)
    #expect(await code { _ = try await plugin.inspect(store.configuration) } == .cannotCreate)
    try store.mark()
    #expect(try await plugin.inspect(store.configuration).format == nil)
  }
}
