internal import Base
internal import CacheData
internal import FoundationEssentials
internal import ResponseCache
internal import StorageSPI

/// Calls of the front door, `Cache` and `Resource`, and for comparison the same work by the engine alone.
///
/// Each run fills the store that it reads, unless an earlier run has. So an engine in memory can be measured, too.
struct DoorCalls {
  enum Kind: String {
    /// A few values again and again: of a `Codable` type, of one that codes its own JSON, and with another codec.
    case value = "door-value"
    case jsonValue = "door-json"
    case customValue = "door-custom"
    /// The same through a resource.
    case resource = "door-resource"
    /// Values and resources as above, called on the main actor.
    case valueOnActor = "door-value-actor"
    case resourceOnActor = "door-resource-actor"
    /// The same by plain reads.
    case plainRead = "door-plain-read"
    /// Pages of 20 movies, each for the first time in this process: a type that codes its own JSON, and a `Codable` one.
    case page = "door-page"
    case codablePage = "door-page-codable"
    /// The same by a plain read and Foundation's JSONDecoder.
    case pageByFoundation = "door-page-foundation"
    /// Small values of a `Codable` type, one by one.
    case set = "door-set"
    /// The same entries by plain writes.
    case plainWrite = "door-plain-write"
  }

  private static let (hotValues, repeatedHits, writes, pages) = (100, 200_000, 20_000, 10_000)
  /// How many pages are looked at in full after the measurement.
  private static let examinedPages = 1_000

  private let cache: Cache
  private let engine: any StorageEngine
  private let divisor: Int

  /// Does what `kind` says, and prints its cost.
  static func run(_ kind: Kind, _ store: Store, divisor: Int) async throws {
    let calls = DoorCalls(
      cache: try await Cache(store.location, limits: nil, clock: FixedClock()), engine: try await store.open(),
      divisor: divisor)
    switch kind {
    case .valueOnActor: try await calls.readValues()
    case .resourceOnActor: try await calls.readThroughResource()
    default: try await calls.run(kind)
    }
    try await calls.engine.close()
    try await calls.cache.close()
  }

  /// As a task calls that is on no actor.
  @concurrent
  private func run(_ kind: Kind) async throws {
    switch kind {
    case .value, .valueOnActor: try await readValues()
    case .jsonValue: try await readJSONValues()
    case .customValue: try await readCustomValues()
    case .resource, .resourceOnActor: try await readThroughResource()
    case .plainRead: try await readPlainly()
    case .page: try await readPages { key in try await cache.value(MoviesPageDTO.self, for: key) }
    case .codablePage: try await readPages { key in try await cache.value(CodablePage.self, for: key)?.page }
    case .pageByFoundation: try await readPagesByFoundation()
    case .set: try await set()
    case .plainWrite: try await writePlainly()
    }
  }

  private func count(_ full: Int) -> Int { max(1, full / divisor) }
}

/// Repeated hits.
extension DoorCalls {
  private func readValues() async throws {
    for (user, key) in User.all(Self.hotValues) { try await cache.set(user, for: key) }
    try await hit { _, key in try await cache.value(User.self, for: key)?.id }
  }

  private func readJSONValues() async throws {
    for (user, key) in User.all(Self.hotValues) { try await cache.set(JSONUser(id: user.id), for: key) }
    try await hit { _, key in try await cache.value(JSONUser.self, for: key)?.id }
  }

  private func readCustomValues() async throws {
    let codec = PayloadCodec<Int>("decimal", encode: { Array(String($0).utf8) }) { bytes in
      guard let number = Int(String(decoding: bytes, as: UTF8.self)) else { throw EntryMissing(key: "decimal") }
      return number
    }
    for (user, key) in User.all(Self.hotValues) { try await cache.set(user.id, for: key, codec: codec) }
    try await hit { _, key in try await cache.value(for: key, codec: codec) }
  }

  private func readThroughResource() async throws {
    let users = cache.resource("users") { (key: String) throws(EntryMissing) in
      guard let id = Int(key.dropFirst(User.keyPrefix.count)) else { throw EntryMissing(key: key) }
      return User(id: id)
    }
    try await hit { _, key in try await users(key).id }
  }

  private func readPlainly() async throws {
    let users = User.all(Self.hotValues)
    let keys = try users.map { try CacheKey("values/v1/key=\($0.key)") }
    for (user, key) in zip(users, keys) { try await write(try user.value.payload, key) }
    try await hit { id, _ in
      try await engine.read(keys[id]) { payload, _ throws(CacheError) in id + (payload.isEmpty ? 1 : 0) }
    }
  }

  /// Prints the cost of repeated hits, each of which returns the number of its user.
  private func hit(_ read: (Int, String) async throws -> Int?) async throws {
    let users = User.all(Self.hotValues)
    // A value is kept when it is read first, and known to be unchanged when it is read next.
    for _ in 0..<3 { for (user, key) in users { _ = try await read(user.id, key) } }
    var sum: UInt64 = 0
    var measured = Measured()
    for operation in 0..<count(Self.repeatedHits) {
      let (user, key) = users[operation % users.count]
      guard let id = try await read(user.id, key) else { throw EntryMissing(key: key) }
      sum &+= UInt64(id)
    }
    measured.end()
    measured.print(operations: count(Self.repeatedHits), sum: sum)
  }
}

/// Pages that are read for the first time.
extension DoorCalls {
  private func readPages(_ read: (String) async throws -> MoviesPageDTO?) async throws {
    let keys = (0..<count(Self.pages)).map { "page-\($0)" }
    if try await cache.keys().count != keys.count {
      let contents = try await TypedHits.contents()
      for (index, key) in keys.enumerated() { try await cache.set(contents[index % contents.count], for: key) }
    }
    try await measure(keys, read)
  }

  private func readPagesByFoundation() async throws {
    let keys = try (0..<count(Self.pages)).map { try CacheKey("values/v1/key=page-\($0)") }
    if try await engine.statistics().tally.total().entries != keys.count {
      let payloads = try await TypedHits.contents().map { try MoviesPageCoding().encode($0) }
      for (index, key) in keys.enumerated() { try await write(payloads[index % payloads.count], key) }
    }
    try await measure(keys) { key in
      try await engine.read(key) { payload, _ throws(CacheError) in
        let data = payload.withUnsafeBufferPointer { Data($0) }
        do { return try JSONDecoder().decode(MoviesPageDTO.self, from: data) } catch {
          throw CacheError(.damaged, "\(error)")
        }
      }
    }
  }

  /// Prints the cost of reading each page once. All bytes are touched before: the disk is not measured.
  private func measure<Key>(_ keys: [Key], _ read: (Key) async throws -> MoviesPageDTO?) async throws {
    for entry in try await engine.scan(KeyRange(), limit: keys.count) {
      _ = try await engine.read(entry.key) { payload, _ throws(CacheError) in
        payload.withUnsafeBufferPointer { FNV1a.hash($0) }
      }
    }
    var measured = Measured()
    for key in keys { _ = try await read(key) }
    measured.end()
    var sum: UInt64 = 0
    for key in keys.prefix(Self.examinedPages) {
      guard let page = try await read(key) else { throw EntryMissing(key: "\(key)") }
      sum = sum &* 31 &+ TypedHits.titleBytes(page)
    }
    measured.print(operations: keys.count, sum: sum)
  }
}

/// Writes.
extension DoorCalls {
  private func set() async throws {
    let users = User.all(count(Self.writes))
    var measured = Measured()
    for (user, key) in users { try await cache.set(user, for: key) }
    measured.end()
    measured.print(operations: users.count, sum: UInt64(try await cache.keys().count))
  }

  private func writePlainly() async throws {
    let entries = try User.all(count(Self.writes)).map { user, key in
      (payload: try user.payload, key: try CacheKey("values/v1/key=\(key)"))
    }
    var measured = Measured()
    for entry in entries { try await write(entry.payload, entry.key) }
    measured.end()
    let entriesThere = try await engine.statistics().tally.total().entries
    measured.print(operations: entries.count, sum: UInt64(entriesThere))
  }

  private func write(_ payload: [UInt8], _ key: CacheKey) async throws(CacheError) {
    let metadata = EntryMetadata(
      storedAt: FixedClock().now, freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "application/json")
    var batch = WriteBatch()
    batch.put(key, payload: payload, metadata: metadata)
    try await engine.apply(batch)
  }
}
