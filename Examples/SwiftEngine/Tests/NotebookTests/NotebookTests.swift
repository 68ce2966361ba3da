import Foundation
import Notebook
import EngineConformance
import EngineAPI
import Testing

/// The whole contract in one test. Write your own tests for the special features of your engine.
@Test func keepsTheStorageContract() async throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notebook-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let subject = try ConformanceSubject(plugin: NotebookPlugin(), scratchFolder: folder.path)
  let report = await ConformanceSuite.run(subject)
  for failure in report.failures { Issue.record("\(failure.check.name): \(failure.message)") }
  #expect(report.passed > 0)
}

/// Only the last line can be of a batch that was interrupted.
@Test(arguments: [
  #"[{"key":"a/b","payload":"AQ=="}]"#, #"[{"key":"a/b","updated":1}]"#, #"[{"key":"a/b","metadata":"AQ=="}]"#,
])
func aChangeThatLacksAPartIsDamageAndNoRemoval(line: String) async throws {
  let file = FileManager.default.temporaryDirectory.appendingPathComponent("notebook-\(UUID().uuidString)").path
  defer { try? FileManager.default.removeItem(atPath: file) }
  try Data("\(line)\n[]\n".utf8).write(to: URL(fileURLWithPath: file))
  let error = await #expect(throws: CacheError.self) {
    try await StorageLocation(NotebookPlugin(), ["path": .text(file)]).open(clock: SystemWallClock())
  }
  #expect(error?.code == .damaged)
}
