import Foundation
import CacheBase
import Testing

/// A migration that is killed at any moment is completed by the next one.
@Suite(.serialized) struct MigrationCrashTests {
  /// A store of so many pages that they are written in several batches.
  private static let filled = Task {
    let scratch = try Scratch()
    for order in ["revenue", "organizations", "name"] {
      let run = try await scratch.cachectl(
        "fetch", "cities", "--all", "--order", order, "--output", "ndjson", "--quiet")
      expectSuccess(run)
    }
    return scratch
  }

  /// The size of all files below a folder.
  private static func size(below folder: String) -> Int {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.reduce(0) { sum, name in
      var status = stat()
      return stat("\(folder)/\(name)", &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
  }

  /// Runs a program whose output is a full pipe: it cannot end by itself, however late the signal comes.
  private static let intoFullPipe = """
    mkfifo "$0"; exec 3<>"$0"; head -c 65536 /dev/zero >&3; exec "$@" >&3
    """

  /// The engine, and how many of ten parts of the payload are on the disk when the process is killed; zero for the moment
  /// at which there is anything.
  @Test(arguments: ["lmdb", "plist"], [0, 3, 6])
  func aKilledMigrationIsCompleted(engine: String, tenths: Int) async throws {
    let filled = try await Self.filled.value
    let scratch = try Scratch()
    try scratch.copyHome(of: filled)
    let before = try await scratch.cachectl("export", "--quiet").output
    let lines = before.count { $0 == 0x0A }
    let target = scratch.path("home/\(engine)")
    let command = ["migrate", "--from", "sqlite", "--to", engine, "--output", "json"]
    let program = try RunningProgram(
      "/bin/sh", ["-c", Self.intoFullPipe, scratch.path("pipe"), Binary.path] + command, in: scratch)
    let limit = max(1, before.count * tenths / 10)
    await program.signal(SIGKILL, when: { Self.size(below: target) >= limit })
    let killed = try await program.end()
    #expect(killed.status == 128 + SIGKILL)
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    let view = try run.document()
    #expect(view["verified"] == .number(Double(lines)) && view["different"] == 0)
    #expect((view["copied"]?.number ?? 0) + (view["skipped"]?.number ?? 0) == Double(lines))
    #expect(try await scratch.cachectl("--backend", engine, "export", "--quiet").output == before)
    #expect(try await scratch.cachectl("export", "--quiet").output == before, "the source was only read")
  }
}
