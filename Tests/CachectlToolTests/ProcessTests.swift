import CacheCore
import CachePresentation
import EngineConformance
import Foundation
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

/// The fate of the checks when the process that makes them ends.
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
  func linesThatAreNotChecksAreSkipped(line: String) {
    var checks = IsolatedTest()
    let isAdded = checks.add(line: Array(line.utf8))
    #expect(!isAdded && checks.results.isEmpty)
  }
}

struct SystemProcessTableTests {
  private let table = SystemProcessTable()

  /// The name of this process with other parts.
  private func changed(system: String? = nil, number: String? = nil, start: String? = nil) throws -> String {
    let parts = try #require(table.current).split(separator: " ").map(String.init)
    try #require(parts.count == 3)
    return [system ?? parts[0], number ?? parts[1], start ?? parts[2]].joined(separator: " ")
  }

  @Test func thisProcessRuns() throws {
    let current = try #require(table.current)
    #expect(try current == changed(number: String(getpid())))
    #expect(current.contains("/pid:["))
    #expect(!table.cannotFinish(current))
    #expect(table.current == current, "it is the same at any time")
  }

  @Test func anotherProcessThatWasGivenTheNumberIsNotTheSame() throws {
    #expect(table.cannotFinish(try changed(start: "1")))
    #expect(!table.cannotFinish(try changed(system: "another", start: "1")))
  }

  @Test(arguments: ["0", "-1", String(Int32.min), "99999999999", "x", "", "1 1"])
  func textThatIsNotAProcessNumberIsNotAProcess(number: String) throws {
    #expect(!table.cannotFinish(try changed(number: number)))
  }

  @Test func aProcessThatEndedOrIsStoppedCannotFinish() throws {
    let input = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cat")
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let status = try #require(ProcessStatus(of: process.processIdentifier))
    let child = try changed(number: String(process.processIdentifier), start: String(status.startedAt))
    #expect(!table.cannotFinish(child))
    kill(process.processIdentifier, SIGSTOP)
    while !table.cannotFinish(child) { usleep(1_000) }
    kill(process.processIdentifier, SIGCONT)
    while table.cannotFinish(child) { usleep(1_000) }
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(table.cannotFinish(child))
  }

  @Test(arguments: [
    ("1 (a) R " + fields(from: 4, startedAt: "77"), true, 77), ("1 (a) Z " + fields(from: 4, startedAt: "0"), false, 0),
    ("1 (a) b) (c Z) S " + fields(from: 4, startedAt: "18446744073709551615"), true, .max),
    ("1 () X " + fields(from: 4, startedAt: "5") + "\n", false, 5),
    ("1 (a) T " + fields(from: 4, startedAt: "6"), false, 6),
  ])
  func theStatusIsRead(text: String, canRun: Bool, startedAt: UInt64) {
    let status = ProcessStatus(text)
    #expect(status?.canRun == canRun)
    #expect(status?.startedAt == startedAt)
  }

  @Test(arguments: ["", "1 (a)", "1 (a) R", "1 a R " + fields(from: 4, startedAt: "77"), "1 (a) R 4 5 6 7 8 9"])
  func textThatIsNotAStatusIsNone(text: String) { #expect(ProcessStatus(text) == nil) }

  @Test(arguments: ["-1", "x", "18446744073709551616"]) func aStartThatIsNotANumberIsNone(start: String) {
    #expect(ProcessStatus("1 (a) R " + Self.fields(from: 4, startedAt: start)) == nil)
  }

  /// The fields of a status from a number on, of which the 22nd is `startedAt`.
  private static func fields(from first: Int, startedAt: String) -> String {
    (first...40).map { $0 == 22 ? startedAt : String($0) }.joined(separator: " ")
  }
}

struct ConsoleTests {
  /// A large response in small pieces takes as many calls as everything else.
  @Test(.enabled(if: Self.calls != nil), arguments: [0, 5_000]) func aPipeAcceptsOnlyWhatFits(unread: Int) throws {
    var pipe: [Int32] = [-1, -1]
    try #require(Foundation.pipe(&pipe) == 0)
    defer { for descriptor in pipe { close(descriptor) } }
    let console = Console(descriptor: pipe[1], name: "pipe")
    try console.write([UInt8](repeating: 1, count: unread))
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let before = try #require(Self.calls)
    try console.write(bytes)
    #expect(try #require(Self.calls) - before == 1)
    var read = [UInt8](repeating: 0, count: 65_536)
    #expect(Foundation.read(pipe[0], &read, read.count) == unread + bytes.count)
    #expect(Array(read[unread..<unread + bytes.count]) == bytes)
  }

  /// The number of writing calls of this thread, see proc(5); `nil` if the system does not count them.
  private static var calls: Int? {
    let text = try? String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("syscw: ") }
    return line.flatMap { Int($0.dropFirst(7)) }
  }
}
