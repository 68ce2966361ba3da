import Foundation
import CacheCore
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

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
    #expect(!table.hasEnded(current))
    #expect(table.current == current, "it is the same at any time")
  }

  @Test func anotherProcessThatWasGivenTheNumberIsNotTheSame() throws {
    let current = try #require(table.current)
    #expect(table.hasEnded(changed(current, startedAt: current.startedAt - 1)))
    #expect(!table.hasEnded(changed(current, system: "another", startedAt: current.startedAt - 1)))
  }

  @Test(arguments: [0, -1, .min] as [Int32])
  func whatIsNoNumberOfAProcessIsNoProcess(number: Int32) throws {
    #expect(!table.hasEnded(changed(try #require(table.current), number: number)))
  }

  @Test func aProcessThatEndedHasEnded() throws {
    let current = try #require(table.current)
    let input = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cat")
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let status = try #require(ProcessStatus(of: process.processIdentifier))
    let child = changed(current, number: process.processIdentifier, startedAt: status.startedAt)
    #expect(!table.hasEnded(child))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(table.hasEnded(child))
  }

  @Test(arguments: [
    ("1 (a) R " + fields(from: 4, startedAt: "77"), false, 77), ("1 (a) Z " + fields(from: 4, startedAt: "0"), true, 0),
    ("1 (a) b) (c Z) S " + fields(from: 4, startedAt: "18446744073709551615"), false, .max),
    ("1 () X " + fields(from: 4, startedAt: "5") + "\n", true, 5),
  ])
  func theStatusIsRead(text: String, isOver: Bool, startedAt: UInt64) {
    let status = ProcessStatus(text)
    #expect(status?.isOver == isOver)
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
