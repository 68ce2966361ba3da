internal import StorageSPI

/// What can be done with a store, each call waiting where it is made.
struct RedisStore: Sendable {
  let options: RedisOptions
  let router: RedisRouter
  /// What the parts held when they were asked last.
  let holdings = RedisHoldings()

  var layout: RedisLayout { options.layout }

  init(_ options: RedisOptions) {
    self.options = options
    router = RedisRouter(options)
  }

  /// Throws `unsupportedFormat` where the store was written by another version.
  func checkFormat() throws(StorageError) {
    let format = try router.perform(RedisRequest(0, RedisCommand("HGET", layout.tables(of: 0)[2], "format")))
    guard format.isNil || format.number == Int64(RedisLayout.format) else {
      throw StorageError(
        .unsupportedFormat, "\(options): the store has a format that this version does not read",
        hint: "give another prefix; nothing was changed")
    }
  }

  /// The entry under `key`; `nil` where there is none. Cost: a round trip.
  func entry(_ key: CacheKey) throws(StorageError) -> (payload: RedisValue, metadata: EntryMetadata)? {
    var command = RedisCommand("HMGET", layout.name(of: key), "payload")
    command.append(RedisEntry.fields)
    let values = try router.perform(RedisRequest(layout.part(of: key), command)).elements ?? []
    if values.count == RedisEntry.fields.count + 1, values.allSatisfy(\.isNil) { return nil }
    guard values.count == RedisEntry.fields.count + 1, !values[0].isNil,
      let metadata = RedisEntry.metadata(values.dropFirst())
    else { throw router.undecodable("entry \(key) is not what was written") }
    return (values[0], metadata)
  }
}
