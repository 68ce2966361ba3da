internal import CCachectlPlugin
internal import StorageSPI

extension LibraryStore {
  /// The first `limit` entries of `range` that can be reached: all of them, if the library cannot do without some.
  func scanReachable(_ range: KeyRange, limit: Int) throws(CacheError) -> Reachable<[EntrySummary]> {
    guard let scan = table.functions.reachable?.scan else { return Reachable(try self.scan(range, limit: limit)) }
    return try reachable { missing throws(CacheError) in
      try self.scan(range, limit) { scan($0, $1, $2, $3, missing, $4) }
    }
  }

  /// How much the store holds that can be reached: all of it, if the library cannot do without some.
  func reachableStatistics() throws(CacheError) -> Reachable<StorageStatistics> {
    guard let statistics = table.functions.reachable?.statistics else { return Reachable(try self.statistics()) }
    return try reachable { missing throws(CacheError) in
      try self.statistics { statistics($0, $1, $2, $3, missing, $4) }
    }
  }

  /// The result of `find`, which describes what it cannot reach in the failure passed to it.
  private func reachable<Content>(
    _ find: (LibraryFunctions.Failure) throws(CacheError) -> Content
  ) throws(CacheError) -> Reachable<Content> {
    var missing = cachectl_failure()
    let content = try find(&missing)
    let message = LibraryText.texts(of: &missing).message
    return Reachable(content, missing: message.isEmpty ? nil : message)
  }
}
