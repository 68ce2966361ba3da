import Foundation
import Testing

/// A program in PREFIX/bin finds the engines in PREFIX/lib/cachectl.
@Suite struct InstallationTests {
  /// Installs the program under test below a folder, with an engine in a library.
  private func installed() async throws -> (scratch: Scratch, program: String) {
    let scratch = try Scratch()
    try scratch.install(EngineLibraries.folder, in: "prefix/lib/cachectl", as: "folder")
    try scratch.makeFolder("prefix/bin")
    let program = scratch.path("prefix/bin/cachectl")
    // Another process copies it: a program cannot be started while any process has it open for writing, and processes
    // that other tests start meanwhile would inherit what is open here.
    expectSuccess(try await scratch.run("/usr/bin/env", ["cp", Binary.path, program]))
    return (scratch, program)
  }

  @Test func anEngineIsFoundBesideTheProgram() async throws {
    let (scratch, program) = try await installed()
    for source in ["origin", "cache"] {
      let run = try await scratch.run(program, ["--backend", "folder", "fetch", "cities", "--output", "json"])
      #expect(try run.document()["source"] == .text(source))
    }
    let list = try await scratch.run(program, ["backends", "--output", "json"]).document()
    let row = try #require(list.elements.first { $0["name"] == "folder" })
    #expect(row["path"] == .text(scratch.path("prefix/lib/cachectl/libcachectl-folder.so")))
    // Through a link, the program is still in its place.
    try FileManager.default.createSymbolicLink(atPath: scratch.path("work/link"), withDestinationPath: program)
    expectSuccess(try await scratch.run(scratch.path("work/link"), ["--backend", "folder", "ls"]))
  }

  @Test(arguments: ["prefix/lib/cachectl", "prefix/lib/cachectl/libcachectl-folder.so"])
  func anEngineThatOthersMayChangeIsRefused(item: String) async throws {
    let (scratch, program) = try await installed()
    try scratch.setMode(0o777, of: item)
    let run = try await scratch.run(program, ["--backend", "folder", "fetch", "cities"])
    expectFailure(run, status: 77, mentioning: ["may be changed by others", "chmod go-w"])
  }

  @Test func aMissingEngineNamesTheCommandThatInstallsIt() async throws {
    let (scratch, program) = try await installed()
    let prefix = scratch.path("prefix")
    for name in ["redis", "rediscluster", "rediscache"] {
      let run = try await scratch.run(program, ["--backend", name, "ls"])
      expectFailure(run, status: 64, mentioning: ["'\(name)'", "./install --prefix \(prefix) --with redis"])
      expectFailure(
        try await scratch.cachectl("--backend", name, "ls"), status: 64, mentioning: ["./install --with redis"])
    }
  }
}
