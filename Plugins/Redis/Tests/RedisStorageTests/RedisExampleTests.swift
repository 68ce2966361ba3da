import Foundation
import StorageSPI
import Testing

@testable import RedisStorage

/// The example of a configuration has a section for the engine, which nothing checks while the engine is not loaded.
@Suite("The example of a configuration")
struct RedisExampleTests {
  @Test("It shows every option that is no secret, with its default")
  func options() throws {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../config.example.json").standardized
    let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
    let section = try #require((document?["backends"] as? [String: Any])?["redis"] as? [String: Any])
    let options = RedisPlugin().declaration.options.filter { !$0.isSecret }
    #expect(Set(section.keys) == Set(options.map(\.name)))
    for option in options {
      #expect("\(section[option.name] ?? "missing")" == text(of: option), "\(option.name)")
    }
  }

  /// The default as the configuration writes it: durations in whole seconds.
  private func text(of option: EngineOption) -> String {
    switch (option.kind, option.defaultValue) {
    case (.duration, .integer(let milliseconds)): "\(milliseconds / 1_000)s"
    case (_, .integer(let number)): "\(number)"
    case (_, .boolean(let flag)): "\(flag)"
    case (_, .text(let text)): text
    case (_, nil): "none"
    }
  }
}
