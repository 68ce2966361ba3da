import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

/// The README lists the options of the engine with their defaults.
@Suite("The options in the README")
struct RedisReadmeTests {
  @Test("They are those of the declaration, with their defaults")
  func options() throws {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Plugins/Redis/README.md").standardized
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    let rows = lines.filter { $0.hasPrefix("| `") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
    }
    let options = RedisPlugin().declaration.options
    #expect(Set(rows.map { $0[0] }).isSuperset(of: options.map(\.name)))
    for option in options {
      let row = try #require(rows.first { $0[0] == option.name })
      #expect(row[1] == text(of: option), "\(option.name)")
    }
  }

  /// The default in the form of the README: durations in whole seconds, and "none" for an empty one.
  private func text(of option: EngineOption) -> String {
    switch (option.kind, option.defaultValue) {
    case (.duration, .integer(let milliseconds)): "\(milliseconds / 1_000)s"
    case (_, .integer(let number)): "\(number)"
    case (_, .boolean(let flag)): "\(flag)"
    case (_, .text(let text)): text.isEmpty ? "none" : text
    case (_, nil): "none"
    }
  }
}
