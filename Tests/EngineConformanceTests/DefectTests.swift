import EngineConformance
import EngineAPI
import Testing

@Suite("The suite finds bugs")
struct DefectTests {
  @Test("Each bug is found by each check that is there to find it", arguments: Defect.all)
  func isFound(_ defect: Defect) async throws {
    let checks = try defect.caughtBy.map { try #require(ConformanceSuite.check(named: $0), "no check \($0)") }
    let report = try await run(DefectivePlugin(defect), only: checks)
    for outcome in report.outcomes {
      #expect(outcome.name == "failed", "\(outcome.check.name) does not find: \(defect.name)")
      #expect(!outcome.message.isEmpty && !outcome.message.contains("\n"), "\(outcome.message)")
    }
  }

  @Test("Each check finds some bug, so that none passes whatever an engine does")
  func everyCheckCanFail() {
    let unproven = Set(ConformanceSuite.checks.map(\.name)).subtracting(Defect.all.flatMap(\.caughtBy))
    #expect(unproven.isEmpty, "no bug is known that these find: \(unproven.sorted())")
  }

  @Test("A failure of random calls comes with a short sequence that brings it about")
  func shrinks() async throws {
    let defect = try #require(Defect.all.first { $0.name == "removes nothing" })
    let check = try #require(ConformanceSuite.check(named: "random-calls"))
    let report = try await run(DefectivePlugin(defect), only: [check])
    let message = try #require(report.failures.first?.message)
    let short = try #require(message.split(separator: "in short: ").last)
    #expect(message.hasPrefix("seed \(report.seed), sequence "))
    #expect(short.split(separator: "; ").count <= 3, "\(message)")
  }
}
