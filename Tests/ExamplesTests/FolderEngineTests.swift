import Foundation
import LibraryStorage
import EngineConformance
import EngineAPI
import Testing

/// The example of an engine in C keeps the contract, and the other promises of its README.
struct FolderEngineTests {
  @Test(arguments: ConformanceSuite.checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    let folder = try ScratchFolder()
    let plugin = try BuiltExample.plugin.get()
    let subject = try ConformanceSubject(plugin: plugin, scratchFolder: folder.path)
    // A check of a capability that the engine does not have makes nothing.
    guard plugin.declaration.capabilities.isSuperset(of: check.requiredCapabilities) else { return }
    let report = await ConformanceSuite.run(subject, only: [check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(check.summary); seed \(report.seed): \(outcome.message)")
  }

  @Test func filesAndDirectoriesAreForTheUserAlone() async throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/new/parent/store"
    try await folder.put("cities/a", in: try await folder.open(path))
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(name)")
    }
  }

  /// Changes of the file from outside. The checksums of the core find other damage.
  static let damages: [(String, @Sendable (Data) -> Data)] = [
    ("cut short", { $0.dropLast() }), ("a head alone", { $0.prefix(24) }), ("longer", { $0 + [0] }),
    ("no slash in a key", { changed($0, "cities/", "cities-") }),
    ("keys out of order", { changed($0, "cities/a", "people/a") }),
    (
      "a length that overflows",
      // The first number 8 is the length of the first key.
      { changed($0, "\u{08}\0\0\0\0\0\0\0", "\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}") }
    ),
    ("another format", { changed($0, "folder 1", "folder 2") }),
    ("no text at all", { Data(repeating: 0xFF, count: $0.count) }),
    ("numbers alone", { Data(repeating: UInt8(ascii: "9"), count: $0.count) }),
  ]

  private static func changed(_ data: Data, _ old: String, _ new: String) -> Data {
    guard let range = data.range(of: Data(old.utf8)) else { return data }
    return data[..<range.lowerBound] + Data(new.utf8) + data[range.upperBound...]
  }

  @Test(arguments: 0..<damages.count)
  func damageIsReportedAndNothingIsWrittenOverIt(number: Int) async throws {
    let folder = try ScratchFolder()
    let (what, damage) = Self.damages[number]
    let engine = try await folder.open(folder.path + "/store")
    try await folder.put("cities/a", in: engine)
    try await folder.put("movies/b", in: engine)
    let file = URL(filePath: folder.path + "/store/entries")
    let whole = try Data(contentsOf: file)
    let damaged = damage(whole)
    #expect(damaged != whole, "\(what)")
    try damaged.write(to: file)
    await expectDamage(what) { _ = try await engine.read(try CacheKey("cities/a")) { bytes, _ in bytes.count } }
    await expectDamage(what) { _ = try await engine.scan(ScanRequest()) }
    await expectDamage(what) { _ = try await engine.count() }
    await expectDamage(what) { try await folder.put("cities/c", in: engine) }
    #expect(try await engine.check().map(\.kind) == [.structure], "\(what)")
    #expect(try Data(contentsOf: file) == damaged, "\(what)")
    try whole.write(to: file)
    #expect(try await engine.check().isEmpty, "\(what)")
    #expect(try await engine.count().entries == 2, "\(what)")
    try await engine.close()
  }

  private func expectDamage(_ what: String, _ call: () async throws -> Void) async {
    let error = await #expect(throws: CacheError.self, "\(what)") { try await call() }
    #expect(error?.code == .damaged, "\(what)")
  }

  /// A process may die while it writes a batch: the new file then takes the place of no other, and the next batch
  /// writes it again.
  @Test func aBatchWhoseProcessDiedChangesNothing() async throws {
    let folder = try ScratchFolder()
    let engine = try await folder.open(folder.path + "/store")
    try await folder.put("cities/a", in: engine)
    let new = folder.path + "/store/entries.new"
    try Data("half of a file".utf8).write(to: URL(filePath: new))
    #expect(try await engine.scan(ScanRequest()).entries.map(\.key.text) == ["cities/a"])
    try await folder.put("cities/b", in: engine)
    #expect(try await engine.scan(ScanRequest()).entries.map(\.key.text) == ["cities/a", "cities/b"])
    #expect(!FileManager.default.fileExists(atPath: new))
    try await engine.close()
  }
}
