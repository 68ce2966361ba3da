import Foundation
import Testing

/// The tool itself on a disk without space.
@Suite struct FullDiskToolTests {
  @Test(arguments: TestEnvironment.engines) func showsTheResponseAndKeepsEarlierEntries(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool(engine, on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      let first = try tool.run("fetch", "cities", "--output", "json")
      try #require(first.status == 0, "\(first.errors)")
      let listed = try tool.run("ls", "--output", "csv")
      let key = try #require(listed.lines.dropFirst().first?.split(separator: ",").first.map(String.init))
      let payload = try tool.run("show", key, "--raw").lines

      try tool.disk.fill(leaving: 0)
      try Self.fetchUntilItFails(tool)
      for arguments in [["stats"], ["ls"], ["show", key], ["fetch", "cities", "--offline"]] {
        let run = try tool.run(arguments)
        #expect(run.status == 0, "\(engine) \(arguments): \(run.errors)")
      }
      #expect(try tool.run("show", key, "--raw").lines == payload)
      #expect(try tool.run("ls", "--output", "csv").lines.contains { $0.hasPrefix(key) })

      try tool.disk.free()
      let again = try tool.run("fetch", "cities", "--page", "200", "--output", "json")
      #expect(again.status == 0, "\(engine): \(again.errors)")
      #expect(try tool.run("fetch", "cities", "--page", "200", "--offline").status == 0)
      #expect(try tool.run("show", key, "--raw").lines == payload)
    }
  }

  /// Some files of a store have room inside. So it takes several responses until nothing more fits.
  private static func fetchUntilItFails(_ tool: Tool) throws {
    for page in 1...100 {
      let run = try tool.run("fetch", "cities", "--page", "\(page)", "--output", "json", "--require-store")
      #expect(run.lines.contains { $0.contains("\"resource\"") }, "the answer was not shown: \(run.errors)")
      if run.status == 0 { continue }
      #expect(run.status == 74, "\(tool.engine): \(run.errors)")
      #expect(run.errors.contains("{\"error\":"), "\(run.errors)")
      let lenient = try tool.run("fetch", "cities", "--page", "\(page)", "--output", "json")
      #expect(lenient.status == 0 && lenient.errors.contains("warning"), "\(tool.engine): \(lenient.errors)")
      return
    }
    Issue.record("the disk was never full")
  }

  /// Making room needs no free space: the entries are deleted with their files, or the free space in the files is given
  /// back.
  @Test(arguments: TestEnvironment.engines) func roomIsMadeOnAFullDisk(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool(engine, on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      for page in 1...20 { try #require(try tool.run("fetch", "cities", "--page", "\(page)").status == 0) }
      // LMDB writes the pages of a removal before the pages of the entries are free.
      try tool.disk.fill(leaving: engine == "lmdb" ? 64 << 10 : 0)
      let compaction = try tool.run("compact")
      #expect(compaction.status == 0, "\(engine): \(compaction.errors)")
      #expect(try tool.run("fetch", "cities", "--page", "20", "--offline").status == 0)
      let removal = try tool.run("rm", "--all", "--yes")
      #expect(removal.status == 0 && removal.lines.contains { $0.contains("Removed 20 entries") }, "\(removal)")
      #expect(try tool.run("verify").status == 0)
      let again = try tool.run("fetch", "cities", "--page", "1")
      #expect(again.status == 0 && !again.errors.contains("warning"), "\(engine): there is room now: \(again.errors)")
    }
  }

  /// However little room is left, all of it is there for the next entry.
  @Test(arguments: TestEnvironment.engines) func removingEverythingMakesRoom(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool(engine, on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      let entries = (0..<1_000).map { number in
        #"{"format":1,"key":"cities/v1/page=\#(number)","storedAt":"2026-01-01T00:00:00.000Z","#
          + #""freshUntil":"9000-01-01T00:00:00.000Z","retainUntil":"9000-01-01T00:00:00.000Z","contentType":"text/plain","#
          + #""attributes":{},"payload":"\#(String(repeating: "x", count: 300 + number % 700))"}"#
      }
      let file = folder.path("entries.ndjson")
      try Data(entries.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      for left in stride(from: 0, through: 40 << 10, by: 10 << 10) {
        try #require(try tool.run("import", file).status == 0)
        try tool.disk.fill(leaving: left)
        let removal = try tool.run("rm", "--all", "--yes")
        #expect(removal.status == 0, "\(engine), \(left) bytes left: \(removal)")
        let fetch = try tool.run("fetch", "cities", "--require-store")
        #expect(fetch.status == 0, "\(engine), \(left) bytes left: \(fetch.errors)")
        #expect(try tool.run("verify").status == 0)
        try tool.disk.free()
      }
    }
  }

  /// SQLite writes a removal to its log before it frees a page. Small ones fit into little room, one after the other.
  @Test(arguments: [64, 160]) func keysAndNamespacesAreRemovedFromANearlyFullDisk(kilobytes: Int) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool("sqlite", on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      for page in 1...5 { try #require(try tool.run("fetch", "cities", "--page", "\(page)").status == 0) }
      let entries = (0..<1_500).map { number in
        let end = number < 1_000 ? "9000-01-01" : "2026-01-02"
        return #"{"format":1,"key":"app/v1/page=\#(number)","storedAt":"2026-01-01T00:00:00.000Z","#
          + #""freshUntil":"\#(end)T00:00:00.000Z","retainUntil":"9000-01-01T00:00:00.000Z","contentType":"text/plain","#
          + #""attributes":{},"payload":"\#(String(repeating: "x", count: 300 + number % 700))"}"#
      }
      let file = folder.path("entries.ndjson")
      try Data(entries.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      try #require(try tool.run("import", file).status == 0)
      try tool.disk.fill(leaving: kilobytes << 10)
      for (arguments, count) in [
        (["app/v1/page=1"], "1 entry"), (["--state", "stale"], "500 entries"), (["--namespace", "app"], "999 entries"),
      ] {
        let removal = try tool.run(["rm"] + arguments)
        #expect(
          removal.status == 0 && removal.lines.contains { $0.contains("Removed \(count)") }, "\(arguments): \(removal)")
      }
      let compaction = try tool.run("compact")
      #expect(compaction.status == 0, "\(compaction.errors)")
      #expect(try tool.run("verify").status == 0)
      #expect(try tool.run("fetch", "cities", "--page", "5", "--offline").status == 0)
      guard kilobytes == 160 else { return }
      try tool.disk.shell("test $(stat -c %s cache.sqlite) -lt 200000")
      let fetch = try tool.run("fetch", "cities", "--page", "6", "--require-store")
      #expect(fetch.status == 0, "the pages of removed entries are used again: \(fetch.errors)")
    }
  }

  /// The file of uses is created while the disk is full. It must not become one that is taken for someone else's.
  @Test func usesAreCountedAgainAfterAFullDisk() async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool("sqlite", on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      try #require(try tool.run("fetch", "cities").status == 0)
      try tool.disk.shell("rm cache.sqlite.uses")
      try tool.disk.fill(leaving: 0)
      #expect(try tool.run("fetch", "cities", "--offline").status == 0)
      try tool.disk.free()
      let fetch = try tool.run("fetch", "cities", "--offline")
      #expect(fetch.status == 0 && !fetch.errors.contains("warning"), "\(fetch.errors)")
      let statistics = try tool.run("stats", "--output", "json")
      #expect(statistics.lines.contains { $0.contains(#""hits":1"#) }, "\(statistics)")
    }
  }

  /// A repair needs room for a new store.
  @Test(arguments: TestEnvironment.engines) func aRepairWithoutRoomDoesNotChangeTheStore(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool(engine, on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      for page in 1...20 { try #require(try tool.run("fetch", "cities", "--page", "\(page)").status == 0) }
      let file = ["plist": "plist/cities.json", "lmdb": "lmdb/data.mdb"][engine] ?? "cache.sqlite"
      // A letter of each name that has these, wherever the file has it.
      try tool.disk.shell(
        "for place in $(grep -obUa CITY '\(file)' | cut -d: -f1); do "
          + "printf Y | dd of='\(file)' bs=1 seek=$place conv=notrunc status=none; done")
      try tool.disk.fill(leaving: 0)
      let repair = try tool.run("verify", "--repair")
      #expect(repair.status == 74, "\(engine): \(repair.errors)")
      try tool.disk.free()
      let again = try tool.run("verify", "--repair")
      #expect([0, 65].contains(again.status), "\(engine): \(again.errors)")
      #expect(try tool.run("verify").status == 0)
    }
  }

  /// A file that may not grow any more is the same to the tool.
  @Test(arguments: TestEnvironment.engines) func limitedFileSize(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let tool = Tool(engine, on: try SmallDisk(megabytes: 8, in: folder), in: folder)
      try #require(try tool.run("fetch", "cities").status == 0)
      var failed: (status: Int32, lines: [String], errors: String)?
      for page in 1...60 where failed == nil {
        let run = try tool.run(
          ["fetch", "cities", "--page", "\(page)", "--output", "json", "--require-store"], fileBlocks: 96)
        if run.status != 0 { failed = run }
      }
      let run = try #require(failed)
      #expect(run.status == 74, "\(engine): \(run.errors)")
      #expect(run.lines.contains { $0.contains("\"resource\"") }, "the answer was not shown: \(run.errors)")
      #expect(try tool.run("fetch", "cities", "--offline").status == 0)
      #expect(try tool.run("fetch", "cities", "--page", "200").status == 0)
    }
  }
}

/// The tool with its stores on a small disk.
final class Tool {
  let engine: String
  let disk: SmallDisk
  private let folder: TestFolder

  init(_ engine: String, on disk: SmallDisk, in folder: TestFolder) {
    (self.engine, self.disk, self.folder) = (engine, disk, folder)
  }

  func run(_ arguments: String...) throws -> (status: Int32, lines: [String], errors: String) { try run(arguments) }

  /// Runs it to its end.
  ///
  /// - Parameter fileBlocks: how large a file may get, in blocks of 512 bytes; the signal that says so is ignored.
  func run(
    _ arguments: [String], fileBlocks: Int? = nil
  ) throws -> (status: Int32, lines: [String], errors: String) {
    let limiting = fileBlocks.map { ["sh", "-c", "trap '' XFSZ; ulimit -f \($0); exec \"$@\"", "sh"] } ?? []
    let program = try Program(
      disk.prefix + limiting + [Built.cachectl] + arguments,
      environment: ["CACHECTL_HOME": disk.path, "CACHECTL_BACKEND": engine], in: folder)
    let status = program.end()
    return (status, program.lines, program.errors)
  }
}
