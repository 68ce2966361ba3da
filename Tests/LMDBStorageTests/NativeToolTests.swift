import ChildProcesses
import CLMDB
import Foundation
import CacheBase
import EngineAPI
import Testing

@testable import LMDBStorage

/// What LMDB's own tools find in a store, and processes that are not ours.
@Suite struct NativeToolTests {
  /// Runs a program, and returns its output. Throws if it fails.
  static func run(_ program: String, _ arguments: String...) throws -> String {
    let process = try FinishedProcess(running: [program] + arguments)
    try #require(process.status == 0, "\(program) failed: \(process.errors)")
    return process.output
  }

  /// Starts a program that has the store open until it is ended.
  static func open(_ store: TestStore) throws -> Process {
    let (process, input) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["mdb_load", store.path]
    process.standardInput = input
    try process.run()
    try input.fileHandleForWriting.write(
      contentsOf: Data("VERSION=3\nformat=print\ndatabase=cities\ntype=btree\nHEADER=END\n".utf8))
    while try !isLocked(store) { sched_yield() }
    return process
  }

  /// Whether the program has set up the locks: until then its lock on the file is exclusive, and it may still enlarge the file.
  private static func isLocked(_ store: TestStore) throws -> Bool {
    let file = try #require(FileHandle(forUpdatingAtPath: store.path + "/lock.mdb"))
    defer { try? file.close() }
    var region = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
    try #require(fcntl(file.fileDescriptor, F_GETLK, &region) == 0)
    return region.l_type == Int16(F_RDLCK)
  }

  @Test func seesWritesOfAnotherProcessBeyondItsMap() async throws {
    let (source, store) = (try TestStore(), try TestStore())
    let large = try await source.open()
    try await large.put("posters/large", [UInt8](repeating: 3, count: 40 << 20))
    try await large.close()
    let engine = try await store.open()
    try await engine.put("cities/a", [1])
    #expect(try await engine.payload("cities/a") == [1])
    let dump = try Self.run("mdb_dump", "-f", store.folder + "/dump", "-s", "posters", source.path)
    #expect(dump.isEmpty)
    _ = try Self.run("mdb_load", "-f", store.folder + "/dump", "-s", "posters", store.path)
    #expect(try await engine.payload("posters/large")?.count == 40 << 20)
    #expect(try await engine.payload("cities/a") == [1])
    try await engine.put("cities/b", [2])
    #expect(try await engine.keys() == ["cities/a", "cities/b", "posters/large"])
    try await engine.close()
  }

  @Test func copyMadeByLMDBsToolIsAStore() async throws {
    let store = try TestStore()
    let engine = try await store.open()
    for index in 0..<500 { try await engine.put("cities/\(index)", [UInt8](repeating: 1, count: 3_000)) }
    for index in 0..<400 { try await engine.remove("cities/\(index)") }
    let copy = try TestStore()
    try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
    _ = try Self.run("mdb_copy", "-c", store.path, copy.path)
    let copied = try await copy.open()
    #expect(try await copied.keys() == engine.keys())
    #expect(try await copied.check() == [])
    try await copied.close()
    try await engine.close()
  }
}
