internal import EngineSupport
package import StorageSPI

/// An engine over several servers, of which one is lost: it reads and writes entries on the others, and fails where it would
/// have to see all of them.
package final class LostServerEngine: WrappingEngine {
  /// What it says of the lost server.
  package static let missing = "servers: 1 of 2 parts cannot be reached (b)"

  package let base: any StorageEngine

  package init(over base: any StorageEngine) { self.base = base }

  package func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] { throw Self.failure }
  package func statistics() async throws(CacheError) -> StorageStatistics { throw Self.failure }
  package func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw Self.failure }
  package func compact() async throws(CacheError) { throw Self.failure }

  private static var failure: CacheError { CacheError(.unreachable, missing, hint: "start it") }
}
