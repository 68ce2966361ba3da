import Foundation
import CacheBase
import Testing

/// A store that may be read and not written to. Permissions mean nothing to the superuser, for whom the programs run as
/// another user.
@Suite struct ReadOnlyStoreTests {
  private static let nobody = 65_534

  @Test(arguments: TestEnvironment.engines) func isReadAndRefusesWrites(engine: String) async throws {
    try await onThread {
      let folder = try TestFolder()
      let exerciser = folder.path("StoreExerciser")
      // By another process: a program that is started meanwhile would inherit the open file and keep it busy.
      try #require(try Program(["cp", Built.exerciser, exerciser], in: folder).end() == 0)
      let path = folder.path("home/store")
      try FileManager.default.createDirectory(atPath: folder.path("home"), withIntermediateDirectories: true)
      let store = TestedStore(
        engine, path: path, seed: TestEnvironment.seed, in: folder, program: exerciser, prefix: Self.withoutPrivileges)
      try Self.change(folder.path, files: 0o755, folders: 0o777)

      let first = try store.startWriter(0, ["batches": 20])
      #expect(first.end() == 0, "\(store): \(first.lines.last ?? "")")
      store.acknowledge(first)
      try Self.change(folder.path("home"), files: 0o444, folders: 0o555)
      defer { try? Self.change(folder.path("home"), files: 0o644, folders: 0o755) }

      // The batches before the refused one may only remove absent entries: they write nothing.
      let refused = try store.startWriter(0, ["batches": 50])
      #expect(refused.end() == 1)
      #expect(refused.lines.last?.hasPrefix("ERROR permissionDenied") == true, "\(store): \(refused.lines)")
      store.acknowledge(refused)
      try store.check(unfinished: 0)

      try Self.change(folder.path("home"), files: 0o666, folders: 0o777)
      let again = try store.startWriter(0, ["batches": 5])
      #expect(again.end() == 0, "\(store): \(again.lines.last ?? "")")
      store.acknowledge(again)
      try store.check(unfinished: 0)
    }
  }

  private static var withoutPrivileges: [String] {
    guard geteuid() == 0 else { return [] }
    return ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", "--"]
  }

  /// Sets the permissions of a folder and of everything in it, the folder last.
  private static func change(_ folder: String, files: mode_t, folders: mode_t) throws {
    for name in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? [] {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
      chmod("\(folder)/\(name)", isFolder.boolValue ? folders : files)
    }
    chmod(folder, folders)
  }
}
