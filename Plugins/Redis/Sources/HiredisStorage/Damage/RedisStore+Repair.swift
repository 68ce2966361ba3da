internal import StorageSPI

extension RedisStore {
  /// Removes an entry, unless another process has replaced it.
  func remove(_ key: CacheKey, ifStill checksum: UInt64) throws(CacheError) {
    var batch = WriteBatch()
    batch.require(key, .checksum(checksum))
    batch.remove(key)
    _ = try tryToApply(batch)
  }

  /// Makes the changes of `batch`; returns `false` if another process has changed the entry meanwhile.
  private func tryToApply(_ batch: WriteBatch) throws(CacheError) -> Bool {
    do throws(CacheError) {
      try apply(try RedisBatch(batch))
      return true
    } catch {
      guard error.code == .conflict else { throw error }
      return false
    }
  }

  /// The tallies of `parts`, without those that have none.
  func tallies(of parts: [Int]) throws(CacheError) -> [Int: RedisPartTables] {
    do throws(CacheError) {
      let replies = try router.perform(
        parts.map { RedisRequest($0, RedisCommand("HGETALL", layout.tables(of: $0)[1])) })
      var tallies: [Int: RedisPartTables] = [:]
      for (part, reply) in zip(parts, replies) where reply.value.elements?.isEmpty == false {
        tallies[part] = RedisPartTables(tally: reply.value)
      }
      return tallies
    } catch {
      guard error.code == .damaged else { throw error }
      guard parts.count > 1 else { return [parts[0]: RedisPartTables()] }
      // A tally of another type fails the whole call, and the error does not name it.
      let half = parts.count / 2
      return try tallies(of: Array(parts[..<half])).merging(tallies(of: Array(parts[half...]))) { $1 }
    }
  }
}
