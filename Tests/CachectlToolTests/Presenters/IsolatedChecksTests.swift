import CachePresentation
import EngineConformance
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// What becomes of the checks when the process that makes them ends.
struct IsolatedChecksTests {
  private static let names = ConformanceSuite.checks.map(\.name)

  private func checks(_ count: Int, failing: Set<Int> = []) -> IsolatedChecks {
    var checks = IsolatedChecks()
    for index in 0..<count {
      let row = ChecksView.CheckRow(name: Self.names[index], result: failing.contains(index) ? .failed : .passed)
      let isAdded = checks.add(line: Array(row.line.utf8.dropLast()))
      #expect(isAdded)
    }
    return checks
  }

  @Test func allWereMade() {
    let view = checks(Self.names.count).view(backend: "x", .exited(status: 0))
    #expect(!view.hasFailures)
    #expect(view.records.count == IsolatedChecks.total)
    let failed = checks(Self.names.count, failing: [3]).view(backend: "x", .exited(status: 1))
    #expect(failed.json["failed"] == 1 && failed.json["passed"] == .integer(Self.names.count - 1))
  }

  @Test(arguments: [
    (IsolatedChecks.End.killed(signal: 11), "the engine ended the process: SIGSEGV"),
    (.killed(signal: 6), "the engine ended the process: SIGABRT"),
    (.killed(signal: 60), "the engine ended the process: signal 60"),
    (.exited(status: 0), "the engine ended the process with status 0"),
    (.exited(status: 3), "the engine ended the process with status 3"),
    (.gaveUp(after: .seconds(120)), "the engine did not return within 2m"),
  ])
  func theProcessEndsEarly(end: IsolatedChecks.End, message: String) {
    let checks = checks(5, failing: [1])
    #expect(checks.done == 5 && checks.underWay == Self.names[5])
    let view = checks.view(backend: "x", end)
    #expect(view.json["passed"] == 4 && view.json["failed"] == 2)
    #expect(view.json["skipped"] == .integer(Self.names.count - 6))
    #expect(view.records.map { $0["name"] } == Self.names.map { .string($0) }, "No check is missing, none is twice")
    #expect(view.records[5]["message"] == .string(message))
    #expect(view.records[6]["result"] == "skipped")
  }

  @Test func theProcessEndsBadlyAfterAllChecks() {
    let view = checks(Self.names.count).view(backend: "x", .killed(signal: 11))
    #expect(view.json["failed"] == 1)
    #expect(view.records.last?["name"] == "end-of-process")
  }

  @Test(arguments: [
    "", "hello", "{}", "[]", #"{"name":"declaration"}"#,
    #"{"name":"declaration","result":"odd","message":""}"#,
    #"{"name":"some-other","result":"passed","message":""}"#, #"{"name":1,"result":"passed","message":""}"#,
  ])
  func whatIsNoCheckIsPassedOver(line: String) {
    var checks = IsolatedChecks()
    let isAdded = checks.add(line: Array(line.utf8))
    #expect(!isAdded && checks.done == 0)
  }
}
