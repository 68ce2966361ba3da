import Foundation
import CacheCore
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct SystemProcessTableTests {
  private let table = SystemProcessTable()

  private func changed(
    _ process: ProcessIdentity, system: String? = nil, number: Int32? = nil, startedAt: UInt64? = nil
  ) -> ProcessIdentity {
    ProcessIdentity(
      system: system ?? process.system, number: number ?? process.number, startedAt: startedAt ?? process.startedAt)
  }

  @Test func thisProcessRuns() throws {
    let current = try #require(table.current)
    #expect(current.number == getpid())
    #expect(!current.system.contains { $0.isWhitespace })
    #expect(current.system.contains("/pid:["))
    #expect(!table.cannotFinish(current))
    #expect(table.current == current, "it is the same at any time")
  }

  @Test func anotherProcessThatWasGivenTheNumberIsNotTheSame() throws {
    let current = try #require(table.current)
    #expect(table.cannotFinish(changed(current, startedAt: current.startedAt - 1)))
    #expect(!table.cannotFinish(changed(current, system: "another", startedAt: current.startedAt - 1)))
  }

  @Test(arguments: [0, -1, .min] as [Int32])
  func whatIsNoNumberOfAProcessIsNoProcess(number: Int32) throws {
    #expect(!table.cannotFinish(changed(try #require(table.current), number: number)))
  }

  @Test func aProcessThatEndedOrIsStoppedCannotFinish() throws {
    let current = try #require(table.current)
    let input = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cat")
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let status = try #require(ProcessStatus(of: process.processIdentifier))
    let child = changed(current, number: process.processIdentifier, startedAt: status.startedAt)
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
  func whatIsNoStatusIsNone(text: String) {
    #expect(ProcessStatus(text) == nil)
  }

  @Test(arguments: ["-1", "x", "18446744073709551616"])
  func aStartThatIsNoNumberIsNone(start: String) {
    #expect(ProcessStatus("1 (a) R " + Self.fields(from: 4, startedAt: start)) == nil)
  }

  /// The fields of a status from a number on, of which the 22nd is `startedAt`.
  private static func fields(from first: Int, startedAt: String) -> String {
    (first...40).map { $0 == 22 ? startedAt : String($0) }.joined(separator: " ")
  }
}
