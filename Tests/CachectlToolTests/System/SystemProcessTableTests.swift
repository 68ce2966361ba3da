import Foundation
import CacheCore
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

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
  func whatIsNoNumberOfAProcessIsNoProcess(number: String) throws {
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
