import EngineAPI
import Foundation
import Testing

@testable import PlistStorage

@Suite struct DamageTests {
  private func store() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "text\n", "a/2": "more", "b/1": "kept"])
    return folder
  }

  /// Puts each content in the place of a file in turn, and reads it: it is refused as damaged, or yields entries.
  private func readEach(_ contents: some Sequence<[UInt8]>) async throws -> Int {
    let folder = try await store()
    var refused = 0
    for (index, content) in contents.enumerated() {
      try folder.write(content, to: "a.json")
      let engine = try await folder.open()
      let found = await code { _ = try await engine.text("a/1") }
      #expect([nil, .damaged, .unsupportedFormat].contains(found), "content \(index)")
      if found != nil {
        refused += 1
        #expect(await code { try await engine.put(["a/3": "x"]) } == found, "content \(index)")
        #expect(try folder.bytes("a.json") == content, "content \(index)")
      }
      #expect(try await engine.text("b/1") == "kept", "content \(index)")
    }
    return refused
  }

  @Test func everyTruncationIsRefused() async throws {
    let whole = try await store().bytes("a.json")
    // Only the line feed at the end can be missed.
    #expect(try await readEach((0..<(whole.count - 1)).map { Array(whole[..<$0]) }) == whole.count - 1)
  }

  @Test func aFlippedBitYieldsAnErrorOrData() async throws {
    let whole = try await store().bytes("a.json")
    let flipped = whole.indices.map { index in
      var bytes = whole
      bytes[index] ^= 1 << UInt8(index % 8)
      return bytes
    }
    #expect(try await readEach(flipped) > whole.count / 2)
  }

  @Test func aDamagedNamespaceStopsOnlyItself() async throws {
    let folder = try await store()
    try folder.write("{", to: "a.json")
    let engine = try await folder.open(at: 10_000_000)
    #expect(await code { _ = try await engine.scan(ScanRequest()) } == .damaged)
    #expect(await code { _ = try await engine.count() } == .damaged)
    #expect(await code { try await engine.put(["a/9": "x", "b/9": "x"]) } == .damaged)
    #expect(try await engine.scan(ScanRequest(prefix: "b")).entries.map(\.key.text) == ["b/1"])
    #expect(try await engine.scan(ScanRequest(limit: 1, isDescending: true)).entries.map(\.key.text) == ["b/1"])
    let page = try await engine.scan(ScanRequest(isDescending: true))
    #expect(page.entries.map(\.key.text) == ["b/1"] && page.next == "b/1", "it ends before the damage")
    #expect(await code { _ = try await engine.scan(ScanRequest(after: "b/1", isDescending: true)) } == .damaged)
    #expect(await code { try await engine.compact() } == .damaged)
    #expect(try await engine.text("b/1") == "kept")
    #expect(try folder.text("a.json") == "{")
  }

  @Test func aFolderInThePlaceOfAFileIsDamage() async throws {
    let folder = try await store()
    try FileManager.default.removeItem(atPath: folder.file("a.json"))
    try FileManager.default.createDirectory(atPath: folder.file("a.json"), withIntermediateDirectories: false)
    let engine = try await folder.open()
    #expect(await code { _ = try await engine.text("a/1") } == .damaged)
    #expect(try await engine.text("b/1") == "kept")
  }

  @Test func theCheckListsAllDefects() async throws {
    let folder = try await store()
    #expect(try await folder.open().check() == [])
    try folder.write(try folder.bytes("b.json"), to: "c.json")
    try folder.write(try folder.text("a.json").replacingOccurrences(of: "a/2", with: "x/2"), to: "a.json")
    let issues = try await folder.open().check()
    #expect(issues.map(\.kind) == [.structure, .structure])
    for (issue, words) in zip(issues, ["\"x/2\" is not a key of", "\"b\" is not the namespace"]) {
      #expect(issue.message.contains(words), "\(issue.message)")
    }
  }
}
