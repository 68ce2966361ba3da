import ChildProcesses
import Foundation
import TestOrigin

/// Libraries with engines, compiled once for all tests.
enum EngineLibraries {
  /// The engine of Examples/FolderEngine.
  static let folder = Result { try compile([], [], as: "folder") }
  /// The same engine, which misbehaves as the variable FAULT says.
  static let faulty = Result {
    try compile(["-Dcachectl_plugin=folder_plugin"], ["Tests/CommandLineTests/Libraries/faulty.c"], as: "faulty")
  }

  /// The same engine, which leaves a mark when its code runs.
  static let marking = Result { try compile([], ["Tests/CommandLineTests/Libraries/marking.c"], as: "marking") }

  private static let project = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../..").standardized.path
  private static let scratch = Result { try Scratch() }

  /// Compiles the example with `flags`, then `others`, into one library, and returns its contents.
  private static func compile(_ flags: [String], _ others: [String], as name: String) throws -> Data {
    let scratch = try scratch.get()
    let example = "\(project)/Examples/FolderEngine"
    let sources = try FileManager.default.contentsOfDirectory(atPath: example).filter { $0.hasSuffix(".c") }.sorted()
    let common = ["-O1", "-fPIC", "-I", "\(project)/Sources/Storage/CCachectlPlugin/include"]
    var objects: [String] = []
    for (source, flags) in sources.map({ ("\(example)/\($0)", flags) }) + others.map({ ("\(project)/\($0)", []) }) {
      objects.append(scratch.path("\(name)-\(objects.count).o"))
      try run(["clang"] + common + flags + ["-c", source, "-o", objects[objects.count - 1]], scratch)
    }
    try run(["clang", "-shared"] + objects + ["-o", scratch.path(name)], scratch)
    return try scratch.read(name)
  }

  private static func run(_ arguments: [String], _ scratch: Scratch) throws {
    let identifier = try Spawning.start(
      ["/usr/bin/env"] + arguments, variables: scratch.cleanEnvironment.map { "\($0)=\($1)" },
      folder: scratch.path("work"), output: scratch.path("output"), errors: scratch.path("errors"))
    guard Spawning.wait(for: identifier) == 0 else {
      throw CompilationFailure(text: String(decoding: try scratch.read("errors"), as: UTF8.self))
    }
  }
}

/// A library that cannot be compiled.
struct CompilationFailure: Error {
  let text: String
}

extension Scratch {
  /// Puts a library into a folder that is made for it, for the user alone.
  ///
  /// - Returns: its path.
  @discardableResult
  func install(_ library: Result<Data, any Error>, in folder: String = "plugins", as name: String) throws -> String {
    let file = "\(folder)/libcachectl-\(name).so"
    try FileManager.default.createDirectory(
      atPath: path(folder), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try write(try library.get(), to: file)
    try setMode(0o600, of: file)
    return path(file)
  }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  /// The environment in which the tool looks for libraries in the directories of these names.
  func searching(_ folders: String..., fault: String? = nil) -> [String: String] {
    var environment = ["CACHECTL_PLUGIN_PATH": folders.map(path).joined(separator: ":")]
    environment["FAULT"] = fault
    return environment
  }
}
