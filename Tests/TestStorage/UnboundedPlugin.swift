package import EngineAPI

/// A layer that gives the stores of any engine their own limits, as on a server that evicts: it is `expiring` and not
/// `bounded`, and its count fails, because it would need a scan that nobody has requested.
package struct UnboundedPlugin: EngineLayer {
  package let base: any StoragePlugin
  /// The statement of an inspection about its limits.
  package var limits: String?
  /// The warning of an inspection.
  package var caution: String?

  package init(over base: any StoragePlugin) { self.base = base }

  package static func capabilities(_ base: Set<EngineCapability>) -> Set<EngineCapability> {
    base.subtracting([.bounded]).union([.expiring])
  }

  package var declaration: EngineDeclaration { base.declaration.with(Self.capabilities(base.declaration.capabilities)) }

  package func wrap(_ engine: any StorageEngine) -> any StorageEngine { UnboundedEngine(over: engine) }

  package func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let found = try await base.inspect(configuration)
    return StoreInspection(
      path: found.path, exists: found.exists, files: found.files, format: found.format,
      currentFormat: found.currentFormat, limits: limits, caution: caution)
  }
}

/// An engine of that layer.
package final class UnboundedEngine: WrappingEngine {
  package let base: any StorageEngine

  package init(over base: any StorageEngine) { self.base = base }

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    if batch.bounds != nil { throw CacheError(.failed, "a store that is not bounded was given bounds") }
    try await base.apply(batch)
  }

  package func count() async throws(CacheError) -> StoreCount {
    throw CacheError(.failed, "a store that is not bounded was counted")
  }
}
