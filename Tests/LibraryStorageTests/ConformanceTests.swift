import EngineConformance
import EngineAPI
import Testing

@Suite("A library's engine keeps the storage contract as the others do")
struct EngineConformanceTests {
  @Test(arguments: ["TINY_READS_WAIT=0", "TINY_READS_WAIT=1"])
  func keepsContract(_ macro: String) async throws {
    let library = try Library("tiny.c", [macro])
    let subject = try ConformanceSubject(plugin: try library.plugin(), scratchFolder: library.folder.path)
    let report = await ConformanceSuite.run(subject, only: ConformanceSuite.checks, seed: 1, rounds: 1)
    #expect(report.failures.map { "\($0.check.name): \($0.message)" } == [])
    #expect(report.outcomes.contains { $0.result == .passed })
  }
}
