import Foundation
import StorageSPI
import Testing

/// Generated damages: a repair saves at least what could be read, and its report says no less than the truth.
///
/// CACHECTL_DAMAGES is the number of damages of each engine, CACHECTL_DAMAGE_SEED the first seed. With CACHECTL_THOROUGH
/// every byte of a meta page gets several wrong values.
@Suite struct GeneratedDamageTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test(arguments: DamagedEngine.allCases) func aRepairSavesWhatCanBeRead(engine: DamagedEngine) async throws {
    let store = try await KnownStore(engine)
    for seed in GeneratedDamage.seeds(40, environment: Self.environment) {
      var (files, damage) = (store.files, GeneratedDamage(seed: seed))
      let names = files.keys.sorted()
      let name = names[Int(seed % UInt64(names.count))]
      damage.apply(to: &files[name, default: []])
      // A log that ends with a commit may be one whose next commits were cut off.
      let isUnknown = damage.isCutOff && name.hasSuffix("-wal")
      // Text out of a payload joins the beginning of an entry to the end of a later one: what lay between was as well
      // the payload of the one entry that is named, since a file of JSON does not count its entries.
      let mayJoin = damage.isCopied && engine == .plist
      try await expectTrueRepair(
        of: store, files, "\(engine), \(name), \(damage)", knowingAll: !isUnknown, knowingEach: !mayJoin)
    }
  }

  /// A meta page says nothing that is not also elsewhere, so that no byte of it is worth an entry. Usually every other
  /// byte is tried, with one wrong value.
  @Test(arguments: [DamagedEngine.lmdb, .lmdbImported], [0, 4_096])
  func noByteOfAMetaPageCostsAnEntry(engine: DamagedEngine, page: Int) async throws {
    let store = try await KnownStore(engine)
    let (name, content) = try #require(store.files.first)
    let isThorough = Self.environment["CACHECTL_THOROUGH"] != nil
    for place in stride(from: isThorough ? page : page + Int.random(in: 0...1), to: page + 160, by: isThorough ? 1 : 2)
    {
      let values = [0x46, 0xFF, content[place] &+ 2] as [UInt8]
      let tried = isThorough ? values : [values[place % values.count]]
      for value in tried where value != content[place] {
        var bytes = content
        bytes[place] = value
        let note = "\(engine), byte \(place) set from \(content[place]) to \(value)"
        try await expectTrueRepair(of: store, [name: bytes], note)
        #expect(try await store.everything().entries == store.entries, "\(note)")
      }
    }
  }

  /// Without meta pages the entries are found by their pages, and it is said that more may be lost.
  @Test(arguments: [DamagedEngine.lmdb, .lmdbImported], [0..<4_096, 4_096..<8_192, 0..<8_192, 0..<20_480])
  func metaPagesOfZeros(engine: DamagedEngine, range: Range<Int>) async throws {
    let store = try await KnownStore(engine)
    let (name, content) = try #require(store.files.first)
    var bytes = content
    for index in range { bytes[index] = 0 }
    try await expectTrueRepair(of: store, [name: bytes], "\(engine), \(range) zeroed")
    let found = try await store.everything().entries
    if range.upperBound <= 8_192 { #expect(found.count >= store.entries.count - 12, "\(engine), \(range)") }
  }

  @Test(arguments: DamagedEngine.allCases) func filesOfZerosAndNothing(engine: DamagedEngine) async throws {
    let store = try await KnownStore(engine)
    for size in [0, 1, 100, 4_096, 40_000] {
      let files = store.files.mapValues { _ in [UInt8](repeating: 0, count: size) }
      try await expectTrueRepair(of: store, files, "\(engine), \(size) zeros")
      #expect(try await store.everything().entries.isEmpty)
    }
  }

  /// LMDB makes its file of locks anew, whatever is in it.
  @Test(arguments: [[], [0], [UInt8](repeating: 0, count: 8_192), [UInt8](repeating: 0xFF, count: 4_096)] as [[UInt8]])
  func aDamagedFileOfLocksCostsNothing(content: [UInt8]) async throws {
    let store = try await KnownStore(.lmdb)
    var files = store.files
    files["store/data.mdb"]?[41] = 0x46
    files["store/lock.mdb"] = content
    try await expectTrueRepair(of: store, files, "a file of locks of \(content.count) bytes")
    #expect(try await store.everything().entries == store.entries)
  }

  /// Repairs the store that consists of `files`, and expects the report to be true.
  ///
  /// - Parameters:
  ///   - knowingAll: whether the store tells that something is lost.
  ///   - knowingEach: whether it also tells, of each entry that is lost, that one is.
  private func expectTrueRepair(
    of store: KnownStore, _ files: [String: [UInt8]], _ note: String, knowingAll: Bool = true, knowingEach: Bool = true
  ) async throws {
    try store.write(files)
    let (preview, sound) = try await store.previewRepair()
    #expect(try store.currentFiles() == files, "\(note): a dry run changes nothing")
    let readable = await store.readable()
    try store.write(files)
    let report = try await store.repair()
    if !report.movedTo.isEmpty {
      #expect(preview.saved == report.saved && preview.lost == report.lost, "\(note): a dry run says what is done")
    }
    let (found, issues) = try await store.everything()
    #expect(issues.isEmpty, "\(note): \(issues.map(\.message))")
    #expect(found.count == report.saved, "\(note)")
    #expect(sound == found, "\(note): what a dry run judges sound is what is saved")
    // Damage can bring an older version to light, which a repair need not save.
    for (key, entry) in readable where entry == store.entries[key] && found[key] != entry {
      Issue.record("\(note): \(key) could be read")
    }
    let named = Set(report.lost.compactMap(\.key))
    let missing = store.entries.keys.filter { found[$0] == nil && !named.contains($0) }
    guard knowingAll else { return }
    // A damaged key is another one.
    let misnamed = named.filter { store.entries[$0] == nil }
    if knowingEach, missing.count > misnamed.count, report.lost.allSatisfy({ $0.key != nil }) {
      Issue.record("\(note): lost without a word: \(missing.map(\.text).sorted())")
    }
    if report.lost.isEmpty, found != store.entries {
      let wrong = Set(found.keys).union(store.entries.keys).filter { found[$0] != store.entries[$0] }
      Issue.record("\(note): nothing is said to be lost: \(wrong.map(\.text).sorted())")
    }
  }
}
