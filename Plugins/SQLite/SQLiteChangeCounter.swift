internal import StorageSPI

/// The log's index, and a connection that keeps it alive for as long as the store is open. If it were rebuilt, the
/// change count could return to an earlier value.
///
/// `@unchecked Sendable`: the engine keeps it behind a lock, and a connection without thread affinity may move between
/// threads.
final class SQLiteChangeCounter: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let index: SQLiteLogIndex?

  init(_ options: SQLiteOptions) throws(CacheError) {
    let connection = try SQLiteReader.connect(path: options.path, busyTimeout: options.busyTimeout)
    self.connection = connection
    index = SQLiteLogIndex(of: connection)
  }

  /// The number that changes with each commit; `nil` if it is unknown.
  var count: UInt64? { index?.state?.count }
}
