import CachePresentation
import EngineConformance
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// What becomes of the checks when the process that makes them ends.
struct IsolatedTestTests {
  private static let names = ConformanceSuite.checks.map(\.name)

  private func checks(_ count: Int, failing: Set<Int> = []) -> IsolatedTest {
    var checks = IsolatedTest()
    for index in 0..<count {
      let row = CheckResult(name: Self.names[index], result: failing.contains(index) ? .failed : .passed)
      let isAdded = checks.add(line: Array(row.line.utf8.dropLast()))
      #expect(isAdded)
    }
    return checks
  }

  @Test func allWereMade() {
    let results = checks(Self.names.count).results(after: .exited(status: 0))
    #expect(results.count == Self.names.count && results.allSatisfy { $0.result == .passed })
    let failed = checks(Self.names.count, failing: [3]).results(after: .exited(status: 1))
    #expect(failed.count { $0.result == .failed } == 1 && failed.count == Self.names.count)
  }

  @Test(arguments: [
    (ToolProcess.End.killed(signal: 11), "the engine ended the process: Segmentation fault"),
    (.killed(signal: 6), "the engine ended the process: Aborted"),
    (.exited(status: 0), "the engine ended the process with status 0"),
    (.exited(status: 3), "the engine ended the process with status 3"),
    (.gaveUp(after: .seconds(120)), "the engine did not return within 2m"),
  ])
  func theProcessEndsEarly(end: ToolProcess.End, message: String) {
    let checks = checks(5, failing: [1])
    #expect(checks.results.count == 5 && checks.underWay == Self.names[5])
    let results = checks.results(after: end)
    let counts = CheckResult.Kind.allCases.map { kind in results.count { $0.result == kind } }
    #expect(counts == [4, 2, Self.names.count - 6])
    #expect(results.map(\.name) == Self.names, "No check is missing, none is twice")
    #expect(results[5].message == message && results[6].result == .skipped)
  }

  @Test func theProcessEndsBadlyAfterAllChecks() {
    let results = checks(Self.names.count).results(after: .killed(signal: 11))
    #expect(results.count { $0.result == .failed } == 1 && results.last?.name == "end-of-process")
  }

  @Test(arguments: [
    "", "hello", "{}", "[]", #"{"name":"declaration"}"#,
    #"{"name":"declaration","result":"odd","message":""}"#,
    #"{"name":"some-other","result":"passed","message":""}"#, #"{"name":1,"result":"passed","message":""}"#,
  ])
  func whatIsNoCheckIsPassedOver(line: String) {
    var checks = IsolatedTest()
    let isAdded = checks.add(line: Array(line.utf8))
    #expect(!isAdded && checks.results.isEmpty)
  }
}
