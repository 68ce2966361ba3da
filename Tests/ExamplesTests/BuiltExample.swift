import ChildProcesses
import Foundation
import LibraryStorage

/// The example of an engine in C, built by its own Makefile outside the sources, once for all tests.
enum BuiltExample {
  /// How the building ended. The folder is removed once the library is loaded, because a library is never unloaded.
  static let plugin: Result<LibraryPlugin, any Error> = Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "folder-engine-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try LibraryPlugin(loading: build(in: folder).path)
  }

  private static var root: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  private static func build(in folder: URL) throws -> URL {
    try FileManager.default.copyItem(at: root.appending(path: "Examples/FolderEngine"), to: folder)
    let make = try FinishedProcess(
      running: ["make", "-sB", "CC=clang", "INTERFACE=\(root.path)/Sources/Storage/CCachectlPlugin/include"],
      in: folder.path)
    guard make.status == 0 else { throw BuildFailure(status: make.status, errors: make.errors) }
    return folder.appending(path: "libcachectl-folder.so")
  }
}

/// The example could not be built.
struct BuildFailure: Error {
  let status: Int32
  let errors: String
}
