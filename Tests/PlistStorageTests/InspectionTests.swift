import Foundation
import EngineAPI
import Testing

@testable import PlistStorage

/// An inspection makes, opens and changes nothing.
@Suite struct InspectionTests {
  private func inspect(_ folder: TemporaryFolder) async throws -> StoreInspection {
    let plugin = PlistPlugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(folder.store)], clock: FixedClock(now: .distantFuture))
    return try await plugin.inspect(configuration)
  }

  @Test func theFilesOfTheStoreAreListed() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    for name in ["notes.txt", "a.json.damaged", "store.commit", "b.json.new"] { try folder.write("", to: name) }
    let found = try await inspect(folder)
    let names = ["a.json", "b.json", "b.json.new", "store.commit", "store.lock"]
    #expect(found.files == names.map { folder.file($0) })
    #expect((found.path, found.format, found.currentFormat) == (folder.store, 1, 1))
    #expect(try folder.names().count == 7)
  }

  /// The content of `a.json`, whether there is an ordinary `b.json` too, and the version that is found.
  @Test(
    arguments: [
      ("{\"format\": 7, \"namespace\": \"a\", damaged", true, 7), ("{", false, nil), ("", true, 1),
      ("{ \"format\":\n3 ,\"namespace\":\"a\"}", false, 3), ("{\"format\": 7, damaged", true, 1),
      ("{\"entries\": {}, \"namespace\": \"a\"}", false, nil), ("{\"format\": 12345678901234567890}", false, nil),
    ] as [(String, Bool, Int?)])
  func theLatestVersionIsNamed(content: String, hasOther: Bool, expected: Int?) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(hasOther ? ["a/1": "x", "b/1": "y"] : ["a/1": "x"])
    try folder.write(content, to: "a.json")
    #expect(try await inspect(folder).format == expected)
  }

  @Test func filesThatAreNotAStoreHaveNoVersion() async throws {
    let folder = try TemporaryFolder()
    try Data([1]).write(to: URL(fileURLWithPath: folder.store))
    #expect(await code { _ = try await inspect(folder) } == .cannotCreate)
    let other = try TemporaryFolder()
    _ = try await other.open().contents()
    #expect(try await inspect(other).files == [other.file("store.lock")])
    #expect(try await inspect(other).format == 1)
    try await other.open().put(["a/1": "x"])
    try FileManager.default.removeItem(atPath: other.file("a.json"))
    try other.makeFolder("a.json")
    #expect(try await inspect(other).format == nil)
  }
}
