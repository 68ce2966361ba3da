internal import StorageSPI

extension RedisStore {
  /// Removes all entries and the tables, in whatever state these are, without needing room.
  ///
  /// Cost: a round trip for each 1,000 entries of a part.
  func removeAll() throws(StorageError) {
    do throws(StorageError) {
      try checkFormat()
    } catch {
      guard error.code == .damaged else { throw error }
    }
    for part in layout.parts {
      let request = RedisRequest(part, .clear, keys: layout.tables(of: part), isChange: true)
      while try router.perform(request).integer == 1 {}
    }
  }
}
