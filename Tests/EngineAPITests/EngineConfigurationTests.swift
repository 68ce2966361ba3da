import EngineAPI
import Testing

@Suite struct EngineConfigurationTests {
  private struct Clock: WallClock {
    let now = Timestamp(milliseconds: 42)
  }

  private static let declaration = EngineDeclaration(
    name: "test", version: "1", summary: "", capabilities: [],
    options: [
      .durability, .busyTimeout, EngineOption("path", .path, default: .text("p"), help: ""),
      EngineOption("size", .size(1...8), help: ""), EngineOption("sync", .boolean, default: .boolean(true), help: ""),
      EngineOption("url", .text, help: "", isRequired: true),
    ])

  private func open(_ values: [String: OptionValue]) throws(CacheError) -> EngineConfiguration {
    try EngineConfiguration(
      for: Self.declaration, values: values.merging(["url": .text("u")]) { own, _ in own }, clock: Clock())
  }

  @Test func defaultsAreOverridden() throws {
    let configuration = try open(["durability": .text("full"), "size": .integer(8)])
    #expect(try configuration.durability() == .full)
    #expect(try configuration.integer("busyTimeout") == 5_000)
    #expect(try configuration.integer("size") == 8)
    #expect(try configuration.text("path") == "p")
    #expect(try configuration.boolean("sync"))
    #expect(try configuration.text("url") == "u")
    #expect(configuration.clock.now.milliseconds == 42)
    #expect(try open([:]).durability() == .normal)
  }

  @Test(
    arguments: [
      ("durability", .text("most")), ("durability", .integer(1)), ("busyTimeout", .integer(-1)),
      ("busyTimeout", .integer(3_600_001)), ("busyTimeout", .text("5s")), ("path", .text("")), ("path", .text("a\0b")),
      ("size", .integer(0)),
      ("size", .integer(9)), ("sync", .text("true")), ("url", .boolean(true)), ("colour", .text("blue")),
    ] as [(String, OptionValue)])
  func otherValuesAreRefused(name: String, value: OptionValue) {
    let error = #expect(throws: CacheError.self) { try open([name: value]) }
    #expect(error?.code == .invalidOption)
    #expect(error?.message.contains("'\(name)' of backend test") == true)
  }

  @Test func aRequiredValueMustBeGiven() {
    let error = #expect(throws: CacheError.self) { try EngineConfiguration(for: Self.declaration, clock: Clock()) }
    #expect(error?.message.contains("'url'") == true)
  }

  @Test func aValueIsOfTheTypeAskedForOrAnError() throws {
    let configuration = try open([:])
    #expect(throws: CacheError.self) { try configuration.text("busyTimeout") }
    #expect(throws: CacheError.self) { try configuration.integer("path") }
    #expect(throws: CacheError.self) { try configuration.boolean("path") }
    #expect(throws: CacheError.self) { try configuration.integer("size") }
    #expect(throws: CacheError.self) { try configuration.text("unknown") }
  }
}
