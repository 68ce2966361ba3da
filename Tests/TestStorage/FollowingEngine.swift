package import EngineAPI

/// A layer whose engines follow the changes of others, like the engine of a server, instead of counting all changes.
package struct FollowingLayer: EngineLayer {
  package let base: any StoragePlugin

  /// The layer around `base`, which counts changes.
  package init(over base: any StoragePlugin) { self.base = base }

  package var declaration: EngineDeclaration {
    base.declaration.with(base.declaration.capabilities.subtracting([.countsChanges]).union([.followsChanges]))
  }

  package func wrap(_ engine: any StorageEngine) -> any StorageEngine {
    FollowingEngine(over: engine) { (try? engine.changeCount()).map { ChangeMark(number: $0, age: .zero) } }
  }
}

/// An engine that says of others' changes what `mark` says.
package final class FollowingEngine: WrappingEngine {
  package let base: any StorageEngine
  private let mark: @Sendable () -> ChangeMark?

  package init(over base: any StorageEngine, mark: @escaping @Sendable () -> ChangeMark?) {
    self.base = base
    self.mark = mark
  }

  package func changeCount() throws(CacheError) -> UInt64? { nil }

  package func changeMark(of key: CacheKey) -> ChangeMark? { mark() }
}
