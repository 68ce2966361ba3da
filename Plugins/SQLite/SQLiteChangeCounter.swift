internal import StorageSPI

/// The index of the log, and a connection that keeps it from being made anew for as long as the store is open: then the
/// number could be one that it once was before.
///
/// It is `@unchecked Sendable` because the engine keeps it behind a lock, and a connection without thread affinity may
/// be used by any thread then.
final class SQLiteChangeCounter: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let index: SQLiteLogIndex?

  init(_ options: SQLiteOptions) throws(StorageError) {
    let connection = try SQLiteReader.connect(path: options.path, busyTimeout: options.busyTimeout)
    self.connection = connection
    index = SQLiteLogIndex(of: connection)
  }

  /// The number that changes with each commit; `nil` where it cannot be told.
  var count: UInt64? { index?.state?.count }
}
