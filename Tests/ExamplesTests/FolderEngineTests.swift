import Foundation
import LibraryStorage
import StorageConformance
import StorageSPI
import Testing

/// The example of an engine in C keeps the contract, and what its README says besides.
struct FolderEngineTests {
  @Test(arguments: ConformanceSuite.checks.filter { !$0.requiredCapabilities.contains(.eviction) })
  func keepsContract(_ check: ConformanceCheck) async throws {
    let folder = try ScratchFolder()
    let plugin = try BuiltExample.plugin.get()
    let subject = try ConformanceSubject(plugin: plugin, scratchFolder: folder.path)
    let report = await ConformanceSuite.run(subject, only: [check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(check.summary); seed \(report.seed): \(outcome.message)")
  }

  @Test func whatItMakesIsForTheUserAlone() async throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/new/parent/store"
    try await folder.put("cities/a", in: try await folder.open(path))
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(name)")
    }
  }

  /// What may happen to a file from outside.
  static let damages: [(String, @Sendable (Data) -> Data)] = [
    ("cut short", { $0.dropLast() }), ("emptied", { _ in Data() }), ("longer", { $0 + [0] }),
    ("a letter of the key changed", { changed($0, "cities", "citied") }),
    ("a length changed", { changed($0, "8 cities", "9 cities") }),
    ("a length that overflows", { changed($0, "8 cities", "99999999999999999999999 cities") }),
    ("another format", { changed($0, "folder 1", "folder 2") }),
    ("no text at all", { Data(repeating: 0xFF, count: $0.count) }),
    ("numbers alone", { Data(repeating: UInt8(ascii: "9"), count: $0.count) }),
  ]

  private static func changed(_ data: Data, _ old: String, _ new: String) -> Data {
    guard let range = data.range(of: Data(old.utf8)) else { return data }
    return data.replacingCharacters(in: range, with: Data(new.utf8))
  }

  @Test(arguments: 0..<damages.count)
  func damageIsReportedAndCanBeWrittenOver(number: Int) async throws {
    let folder = try ScratchFolder()
    let (what, damage) = Self.damages[number]
    let engine = try await folder.open(folder.path + "/store")
    try await folder.put("cities/a", in: engine)
    try await folder.put("movies/b", in: engine)
    let file = try #require(try folder.files(in: "store/entries").first { try $0.data.contains("cities/a") })
    try damage(file.data).write(to: file.url)
    let key = try CacheKey("cities/a")
    for call in ["read", "scan"] {
      let error = await #expect(throws: CacheError.self, "\(what): \(call)") {
        _ =
          call == "read"
          ? try await engine.read(key) { bytes, _ in bytes.count }
          : try await engine.scan(KeyRange(), limit: 10).count
      }
      #expect(error?.code == .damaged, "\(what): \(call)")
    }
    #expect(try await engine.checkIntegrity().map(\.kind) == [.undecodable], "\(what)")
    #expect(try await engine.read(try CacheKey("movies/b")) { bytes, _ in bytes.count } == 3)
    try await folder.put("cities/a", in: engine)
    #expect(try await engine.checkIntegrity().isEmpty, "\(what)")
    #expect(try await engine.statistics().entries == 2)
    try await engine.close()
  }

  /// A process may die before a batch is decided or after: it then counts not at all, or wholly.
  @Test(arguments: [false, true])
  func aBatchThatWasLeftCountsWhollyOrNotAtAll(isDecided: Bool) async throws {
    let folder = try ScratchFolder()
    let engine = try await folder.open(folder.path + "/store")
    for name in ["cities/old", "cities/gone"] { try await folder.put(name, in: engine) }
    let files = try folder.files(in: "store/entries")
    let gone = try #require(files.first { try $0.data.contains("cities/gone") })
    // Another store lends the file of a new entry.
    try await folder.put("cities/new", in: try await folder.open(folder.path + "/other"))
    let new = try #require(try folder.files(in: "other/entries").first)
    try new.data.write(to: URL(filePath: "\(folder.path)/store/batch/\(new.url.lastPathComponent)"))
    try Data().write(to: URL(filePath: "\(folder.path)/store/batch/\(gone.url.lastPathComponent)"))
    if isDecided { try Data().write(to: URL(filePath: "\(folder.path)/store/decided")) }
    let keys = try await engine.scan(KeyRange(), limit: 10).map(\.key.text)
    #expect(keys == (isDecided ? ["cities/new", "cities/old"] : ["cities/gone", "cities/old"]))
    try await folder.put("cities/after", in: engine)
    #expect(try folder.files(in: "store/batch").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/store/decided"))
    #expect(try await engine.scan(KeyRange(), limit: 10).count == 3)
    try await engine.close()
  }
}

extension Data {
  fileprivate func contains(_ text: String) throws -> Bool { range(of: Data(text.utf8)) != nil }

  fileprivate func replacingCharacters(in range: Range<Int>, with new: Data) -> Data {
    self[..<range.lowerBound] + new + self[range.upperBound...]
  }
}
