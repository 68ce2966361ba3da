import Foundation
import Testing

/// Writing fails in the middle, because the disk is full or a file may not grow. Nothing that was there is lost, and
/// writing works again once it can.
@Suite struct FullDiskTests {
  @Test(arguments: TestEnvironment.engines) func engineOnFullDisk(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let disk = try SmallDisk(megabytes: 16, in: folder)
      let store = TestedStore(
        engine, path: disk.path + "/store", seed: TestEnvironment.seed, in: folder, prefix: disk.prefix)
      try Self.write(20, to: store)
      var failures = 0
      for left in [0, 4_096, 20_000, 70_000, 150_000, 300_000, 600_000] {
        try disk.fill(leaving: left)
        let writer = try store.startWriter(0, ["batches": 400])
        let status = writer.end()
        store.acknowledge(writer)
        if status != 0 {
          failures += 1
          Self.expectError(writer, ["noSpace"], store)
          #expect(writer.lines.contains("CLOSED"), "closing loses nothing: \(store)")
        }
        // First on the full disk, then with space.
        try store.check(unfinished: 0)
        try disk.free()
        try store.check(unfinished: 0)
        try Self.write(10, to: store)
        try store.check(unfinished: 0)
      }
      #expect(failures > 1, "the disk was never full: \(store)")
    }
  }

  /// Whatever has no room, of all that a new store creates, the failure says so. Two batches of some seeds fit into one block
  /// of the disk; eight of none do.
  @Test(arguments: TestEnvironment.engines) func aNewStoreOnAFullDisk(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let disk = try SmallDisk(megabytes: 1, in: folder)
      var failures = 0
      for left in stride(from: 0, through: 160 << 10, by: 8 << 10) {
        try disk.fill(leaving: left)
        let store = TestedStore(
          engine, path: "\(disk.path)/store-\(left)", seed: TestEnvironment.seed, in: folder, prefix: disk.prefix)
        let writer = try store.startWriter(0, ["batches": 8])
        if writer.end() != 0 {
          failures += 1
          Self.expectError(writer, ["noSpace"], store)
        }
        try disk.shell("rm -rf store-\(left)* ballast")
      }
      #expect(failures > 3, "the disk was never full: \(engine)")
    }
  }

  /// SQLite's log grows to more than the free space on the disk, unless its space is used again. The database has grown
  /// in the rounds before.
  @Test func aLogThatCannotGrowIsUsedAgain() async throws {
    try await onThread {
      let folder = try TestFolder()
      let disk = try SmallDisk(megabytes: 32, in: folder)
      let store = TestedStore(
        "sqlite", path: disk.path + "/store", seed: TestEnvironment.seed, in: folder, prefix: disk.prefix)
      func writeRounds() throws {
        let writer = try store.start("write", ["batches": 20, "rounds": 30, "after": store.committed[0]])
        #expect(writer.end() == 0, "\(store): \(writer.lines.last ?? "")")
        store.acknowledge(writer)
        try store.check(unfinished: 0)
      }
      try writeRounds()
      try disk.fill(leaving: 1_500_000)
      try writeRounds()
    }
  }

  @Test(arguments: TestEnvironment.engines) func compactionOnFullDisk(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let disk = try SmallDisk(megabytes: 16, in: folder)
      let store = TestedStore(
        engine, path: disk.path + "/store", seed: TestEnvironment.seed, in: folder, prefix: disk.prefix)
      try Self.write(20, to: store)
      for left in [0, 50_000, 400_000] {
        try disk.fill(leaving: left)
        let writer = try store.startWriter(0, ["batches": 100, "compact": 1])
        _ = writer.end()
        store.acknowledge(writer)
        try store.check(unfinished: 0)
        try disk.free()
        try Self.write(10, to: store)
        try store.check(unfinished: 0)
      }
    }
  }

  /// The limit of the size of files stops a write in the middle of a file that could still grow on the disk.
  @Test(arguments: TestEnvironment.engines) func limitedFileSize(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let store = TestedStore(engine, path: folder.path("store"), seed: TestEnvironment.seed, in: folder)
      try Self.write(20, to: store)
      var failures = 0
      for limit in [40_000, 70_001, 150_000, 400_000, 1_000_000] {
        let writer = try store.startWriter(0, ["batches": 200, "fileLimit": limit])
        let status = writer.end()
        store.acknowledge(writer)
        if status != 0 {
          failures += 1
          Self.expectError(writer, ["noSpace", "ioFailed", "tooLarge"], store)
        }
        try store.check(unfinished: 0)
        try Self.write(10, to: store)
        try store.check(unfinished: 0)
      }
      #expect(failures > 1, "no file met the limit: \(store)")
    }
  }

  private static func expectError(
    _ writer: Program, _ codes: [String], _ store: TestedStore, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let last = writer.lines.last ?? "nothing"
    #expect(codes.contains { last.hasPrefix("ERROR \($0):") }, "\(store): \(last)", sourceLocation: sourceLocation)
  }

  private static func write(
    _ batches: Int, to store: TestedStore, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let writer = try store.startWriter(0, ["batches": batches])
    let status = writer.end()
    #expect(status == 0, "\(store): \(writer.lines.last ?? "")", sourceLocation: sourceLocation)
    #expect(store.acknowledge(writer) == batches, "\(store)", sourceLocation: sourceLocation)
  }
}
