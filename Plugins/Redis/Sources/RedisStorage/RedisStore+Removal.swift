internal import StorageSPI

extension RedisStore {
  /// Removes all entries and the tables, whatever their state, without needing memory.
  ///
  /// Cost: a round trip for each 1,000 entries of a part, and for each 1,000 keys on the part's server.
  func removeAll() throws(CacheError) {
    do throws(CacheError) {
      try checkFormat()
    } catch {
      guard error.code == .damaged else { throw error }
    }
    for part in layout.parts {
      while try clear(part) == 1 {}
      try removeUnlisted(part)
    }
  }

  /// Removes the entries of `part` that the index does not name: they were lost, but are still found by key. Entries
  /// that another process puts meanwhile stay.
  func removeUnlisted(_ part: Int) throws(CacheError) {
    let base = layout.base(of: part)
    var cursor = "0"
    repeat {
      let command = RedisCommand("SCAN", cursor, "MATCH", base + "*/*", "COUNT", "1000")
      guard let page = try router.perform(RedisRequest(part, command)).elements, page.count == 2,
        let next = page[0].text, let names = page[1].elements
      else { throw router.undecodable("a listing gives no keys") }
      // Everything else is not an entry of this store.
      let keys = names.compactMap { try? CacheKey(String($0.text?.dropFirst(base.count) ?? "")) }
      if !keys.isEmpty { _ = try clear(part, naming: keys) }
      cursor = next
    } while cursor != "0"
  }

  /// Removes some of what the tables of `part` name; returns 1 if there is more. If `keys` are given, it only removes
  /// those entries under them that the index does not name.
  private func clear(_ part: Int, naming keys: [CacheKey] = []) throws(CacheError) -> Int64? {
    let arguments = keys.map { Array($0.text.utf8) }
    return try router.perform(
      RedisRequest(part, .clear, keys: layout.tables(of: part), arguments: arguments, isChange: true)
    ).integer
  }
}
