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
