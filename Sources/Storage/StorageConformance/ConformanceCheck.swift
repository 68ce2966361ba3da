public import StorageSPI

/// One sentence of the storage contract, and the code that checks whether an engine keeps it.
public struct ConformanceCheck: Sendable {
  /// The check's name in kebab case, unique in the suite.
  public let name: String

  /// What the check expects of an engine, in one line without a final full stop.
  public let summary: String

  /// The capabilities that an engine needs for the check to apply, in the order in which they are examined.
  public let requiredCapabilities: [EngineCapability]

  let body: @Sendable (ConformanceContext) async throws -> Void

  init(
    _ name: String, _ summary: String, requires: [EngineCapability] = [],
    _ body: @escaping @Sendable (ConformanceContext) async throws -> Void
  ) {
    self.name = name
    self.summary = summary
    self.requiredCapabilities = requires
    self.body = body
  }
}

extension ConformanceCheck: CustomStringConvertible {
  /// The check's name.
  public var description: String { name }
}
