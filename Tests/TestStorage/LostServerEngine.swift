package import EngineAPI

/// An engine over several servers, of which one is lost: it reads and writes entries on the others. It fails if it
/// would have to see all of them.
package final class LostServerEngine: WrappingEngine {
  /// The message about the lost server.
  package static let missing = "servers: 1 of 2 parts cannot be reached (b)"

  package let base: any StorageEngine

  package init(over base: any StorageEngine) { self.base = base }

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { throw Self.failure }
  package func count() async throws(CacheError) -> StoreCount { throw Self.failure }
  package func check() async throws(CacheError) -> [IntegrityIssue] { throw Self.failure }
  package func compact() async throws(CacheError) { throw Self.failure }

  private static var failure: CacheError { CacheError(.unreachable, missing, hint: "start it") }
}
