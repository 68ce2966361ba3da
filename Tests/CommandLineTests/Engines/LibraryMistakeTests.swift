import Foundation
import Testing

/// Libraries that cannot be used: the message and the exit code. A fetch never silently continues without them.
@Suite struct LibraryMistakeTests {
  private static let commands = [["fetch", "cities"], ["ls"], ["stats"], ["doctor"]]

  /// Checks that every command fails, by the flag and by the configuration.
  private func expectMistake(
    _ scratch: Scratch, _ backend: String, status: Int32, flagStatus: Int32? = nil, _ words: [String],
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for command in Self.commands.dropLast() {
      let run = try await scratch.cachectl(command + ["--backend", backend], environment: environment)
      expectFailure(run, status: flagStatus ?? status, mentioning: words, sourceLocation: sourceLocation)
    }
    try scratch.configure(text: #"{"backend": "\#(backend)"}"#)
    for command in Self.commands.dropLast() {
      let run = try await scratch.cachectl(command, environment: environment)
      expectFailure(run, status: status, mentioning: words + [":1:13"], sourceLocation: sourceLocation)
    }
    let doctor = try await scratch.cachectl("doctor", environment: environment)
    #expect(doctor.status == status, "\(doctor.text)", sourceLocation: sourceLocation)
    let validation = try await scratch.cachectl("config", "validate", environment: environment)
    #expect(validation.status == status, "\(validation.text)", sourceLocation: sourceLocation)
    #expect(!scratch.exists("home"), "Nothing is stored", sourceLocation: sourceLocation)
  }

  @Test func thereIsNoSuchName() async throws {
    let scratch = try Scratch()
    try scratch.install(EngineLibraries.folder, as: "folder")
    try await expectMistake(
      scratch, "foldr", status: 78, flagStatus: 64,
      ["foldr", "sqlite, lmdb, plist, memory, redis, folder", "the nearest is folder", scratch.path("plugins")],
      environment: scratch.searching("plugins"))
  }

  @Test func thereIsNoSuchLibrary() async throws {
    let scratch = try Scratch()
    let path = scratch.path("plugins/libcachectl-none.so")
    try await expectMistake(scratch, path, status: 78, ["there is no library \(path)"])
  }

  @Test func twoFoldersHaveIt() async throws {
    let scratch = try Scratch()
    let paths = try ["a", "b"].map { try scratch.install(EngineLibraries.folder, in: $0, as: "folder") }
    let environment = scratch.searching("a", "b")
    try await expectMistake(scratch, "folder", status: 78, ["more than one folder"] + paths, environment: environment)
    try FileManager.default.removeItem(atPath: scratch.path(Scratch.configuration))
    expectSuccess(try await scratch.cachectl("--backend", paths[1], "ls", environment: environment))
    let list = try await scratch.cachectl("backends", "--output", "json", environment: environment).document()
    #expect(list.elements.count { $0["summary"]?.text?.contains("another folder") == true } == 2)
    let doctor = try await scratch.cachectl("doctor", environment: environment)
    expectSuccess(doctor)
    for path in paths { #expect(doctor.text.contains("\(path) is not found by its name"), "\(doctor.text)") }
  }

  @Test func aBuiltInEngineIsCalledSo() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.folder, as: "lmdb")
    try await expectMistake(scratch, path, status: 78, [path, "built-in engine lmdb"])
    try scratch.configure(text: "{}")
    let environment = scratch.searching("plugins")
    let fetch = try await scratch.cachectl(
      "fetch", "cities", "--backend", "lmdb", "--output", "json", environment: environment)
    expectSuccess(fetch)
    #expect(scratch.exists("home/lmdb/data.mdb"), "The built-in one is used")
    let list = try await scratch.cachectl("backends", "--output", "json", environment: environment)
    #expect(try list.document().elements.count == Contract.engines.count + 1, "and the one on a server")
    #expect(list.errors.contains("\(path) is not used"), "\(list.errors)")
    let doctor = try await scratch.cachectl("doctor", environment: environment)
    expectSuccess(doctor)
    #expect(doctor.text.contains("\(path) is not used"), "\(doctor.text)")
  }

  @Test func theFileIsNotALibrary() async throws {
    let scratch = try Scratch()
    let path = try scratch.install(.success(Data("no library".utf8)), as: "text")
    try await expectMistake(scratch, path, status: 78, [path])
    let odd = try scratch.install(EngineLibraries.folder, as: "Folder")
    try await expectMistake(scratch, odd, status: 78, [odd, "libcachectl-NAME.so"])
    try await expectMistake(scratch, scratch.path("plugins/"), status: 78, ["libcachectl-NAME.so"])
  }

  @Test(arguments: [("version", ["version"]), ("name", ["'faulty'", "'other'"])])
  func theLibraryIsAnother(fault: String, words: [String]) async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.faulty, as: "faulty")
    try await expectMistake(scratch, path, status: 78, [path] + words, environment: ["FAULT": fault])
    let test = try await scratch.cachectl("backends", "test", path, "--output", "json", environment: ["FAULT": fault])
    expectFailure(test, status: 78, mentioning: [path, #""code":"invalidPlugin""#])
    #expect(scratch.names(below: "temporary").isEmpty)
  }

  @Test(arguments: ["plugins/libcachectl-folder.so", "plugins"])
  func othersMayChangeIt(name: String) async throws {
    let scratch = try Scratch()
    let path = try scratch.install(EngineLibraries.folder, as: "folder")
    try scratch.setMode(0o777, of: name)
    try await expectMistake(
      scratch, "folder", status: 77, [scratch.path(name)], environment: scratch.searching("plugins"))
    try await expectMistake(scratch, path, status: 77, [scratch.path(name)])
    let test = try await scratch.cachectl("backends", "test", path, "--output", "json")
    expectFailure(test, status: 77, mentioning: [scratch.path(name), #""code":"permissionDenied""#])
  }
}
