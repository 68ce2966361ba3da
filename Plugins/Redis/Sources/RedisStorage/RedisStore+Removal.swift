internal import StorageSPI

extension RedisStore {
  /// Removes all entries and the tables, in whatever state these are, without needing room.
  ///
  /// Cost: a round trip for each 1,000 entries of a part, and for each 1,000 keys that the server of a part has.
  func removeAll() throws(StorageError) {
    do throws(StorageError) {
      try checkFormat()
    } catch {
      guard error.code == .damaged else { throw error }
    }
    for part in layout.parts {
      while try clear(part) == 1 {}
      try removeUnlisted(part)
    }
  }

  /// Removes the entries of `part` that the index does not name: they were lost, and are still found by their keys. Entries
  /// that another process puts meanwhile stay.
  func removeUnlisted(_ part: Int) throws(StorageError) {
    let base = layout.base(of: part)
    var cursor = "0"
    repeat {
      let command = RedisCommand("SCAN", cursor, "MATCH", base + "*/*", "COUNT", "1000")
      guard let page = try router.perform(RedisRequest(part, command)).elements, page.count == 2,
        let next = page[0].text, let names = page[1].elements
      else { throw router.undecodable("a listing gives no keys") }
      // Anything else is no entry of this store.
      let keys = names.compactMap { try? CacheKey(String($0.text?.dropFirst(base.count) ?? "")) }
      if !keys.isEmpty { _ = try clear(part, naming: keys) }
      cursor = next
    } while cursor != "0"
  }

  /// Removes part of what the tables of `part` name; 1 where there is more. Given `keys`, it removes only the entries under
  /// them that the index does not name.
  private func clear(_ part: Int, naming keys: [CacheKey] = []) throws(StorageError) -> Int64? {
    let arguments = keys.map { Array($0.text.utf8) }
    return try router.perform(
      RedisRequest(part, .clear, keys: layout.tables(of: part), arguments: arguments, isChange: true)
    ).integer
  }
}
