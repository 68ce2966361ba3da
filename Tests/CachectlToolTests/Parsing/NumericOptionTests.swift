import CommandLineKit
import Testing

@testable import CachectlTool

/// Every number that the command line takes, at the ends of what its type can hold. Nothing is run.
@Suite struct NumericOptionTests {
  /// An option, the command that it is tried with, and what it accepts of `numbers`.
  struct Row: Sendable, CustomStringConvertible {
    let command: [String]
    let option: String
    let accepted: Set<String>

    init(_ command: String, _ option: String, _ accepted: Set<String>) {
      self.command = command.split(separator: " ").map(String.init)
      (self.option, self.accepted) = (option, accepted)
    }

    var description: String { "\(command.joined(separator: " ")) \(option)" }
  }

  static let greatest = String(Int.max)
  static let numbers = [
    "0", "1", "-1", "9", greatest, String(Int.min), "9223372036854775808", String(UInt64.max), "18446744073709551616",
    "1.5", "1e3", "0x10", " 1", "1_000", "nan", "inf", "", "\(greatest)k", "9223372036854776k", "1k", "1K",
    "0s", "9s", "-9s", "\(greatest)ms", "\(greatest)s", "\(greatest)d", "106751991167d", "106751991168d",
    "4KiB", "\(greatest)B", "\(greatest)KiB", "8388608TiB",
  ]
  static let durations: Set = ["0s", "9s", "\(greatest)ms", "106751991167d"]
  static let natural: Set = ["0", "1", "9", greatest]

  static let rows = [
    Row("fetch cities", "--page", natural), Row("fetch cities", "--limit", natural),
    Row("fetch cities --all", "--limit", natural), Row("explain cities", "--page", natural),
    Row("fetch movies --query x", "--page", ["1", "9", greatest]),
    Row("fetch movies --query x", "--limit", natural), Row("queries", "--limit", natural),
    Row("ls", "--limit", ["1", "9", greatest]),
    Row("fetch poster /1.png --out x", "--width", ["1", "9", greatest]),
    Row("fetch cities", "--max-age", durations), Row("fetch cities", "--max-stale", durations),
    Row("rm", "--older-than", durations),
    Row("bench", "--entries", ["1", "9", "1k", "1K"]), Row("bench", "--operations", ["1", "9", "1k", "1K"]),
    Row("bench", "--threads", ["1", "9"]), Row("bench", "--processes", ["1", "9"]),
    Row("bench", "--rounds", ["1", "9"]),
    Row("bench", "--value-size", ["0", "1", "9", "4KiB"]),
    Row("bench", "--seed", natural.union(["9223372036854775808", String(UInt64.max)])),
    Row("backends test memory", "--seed", natural.union(["9223372036854775808", String(UInt64.max)])),
    Row("backends test memory", "--timeout", durations.subtracting(["0s"])),
  ]

  @Test(arguments: rows) func whatIsOutOfRangeIsRefusedInASentence(_ row: Row) {
    for number in Self.numbers {
      do throws(CommandLineError) {
        _ = try CachectlCommand.parseAsRoot(row.command + ["\(row.option)=\(number)"])
        #expect(row.accepted.contains(number), "'\(number)' was accepted")
      } catch {
        #expect(!row.accepted.contains(number), "'\(number)' was refused: \(error)")
        #expect(error.exitCode == .validationFailure && error.message.contains(row.option), "'\(number)': \(error)")
        #expect(!error.description.contains("\n"))
      }
    }
  }

  @Test(arguments: ["0", "7"]) func aWalkOverAllPagesBeginsAtTheFirst(page: String) {
    #expect(throws: CommandLineError.self) {
      try CachectlCommand.parseAsRoot(["fetch", "cities", "--all", "--page", page])
    }
  }
}
