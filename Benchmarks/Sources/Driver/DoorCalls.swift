internal import FoundationEssentials
internal import ResponseCache
internal import EngineAPI

/// A small value of a `Codable` type.
struct User: Codable, Sendable {
  static let keyPrefix = "user-"

  let id: Int
  var name = "Ann"
}

/// Repeated hits through the front door, `Cache` and `Resource`, and for comparison by plain reads of the engine.
///
/// Each run fills the store that it reads. So an engine in memory can be measured, too.
struct DoorCalls {
  enum Kind: String {
    /// A few small values again and again.
    case value = "door-value"
    /// The same through a resource.
    case resource = "door-resource"
    /// The same by plain reads.
    case plainRead = "door-plain-read"
  }

  private static let (hotValues, repeatedHits) = (100, 200_000)

  private let cache: Cache
  private let engine: any StorageEngine
  private let operations: Int
  /// Values with their keys: a program that measures a cache does not measure the making of texts.
  private let users = (0..<hotValues).map { (user: User(id: $0), key: "\(User.keyPrefix)\($0)") }

  /// Does what `kind` says, and prints its cost.
  static func run(_ kind: Kind, _ store: Store, divisor: Int) async throws {
    let calls = DoorCalls(
      cache: try await Cache(store.location, limits: nil, clock: FixedClock()), engine: try await store.open(),
      operations: max(1, repeatedHits / divisor))
    try await calls.run(kind)
    try await calls.engine.close()
    try await calls.cache.close()
  }

  /// As a task calls that is on no actor.
  @concurrent
  private func run(_ kind: Kind) async throws {
    switch kind {
    case .value: try await readValues()
    case .resource: try await readThroughResource()
    case .plainRead: try await readPlainly()
    }
  }

  private func readValues() async throws {
    for (user, key) in users { try await cache.set(user, for: key) }
    try await hit { _, key in try await cache.value(User.self, for: key)?.id }
  }

  private func readThroughResource() async throws {
    let resource = try cache.resource("users") { (key: String) throws(EntryMissing) in
      guard let id = Int(key.dropFirst(User.keyPrefix.count)) else { throw EntryMissing(key: key) }
      return User(id: id)
    }
    try await hit { _, key in try await resource(key).id }
  }

  private func readPlainly() async throws {
    let keys = try users.map { try CacheKey("values/v1/key=\($0.key)") }
    var batch = WriteBatch()
    for ((user, _), key) in zip(users, keys) {
      let metadata = EntryMetadata(
        storedAt: FixedClock().now, freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "application/json")
      batch.put(key, payload: Array(try JSONEncoder().encode(user)), metadata: metadata)
    }
    try await engine.apply(batch)
    try await hit { id, _ in
      try await engine.read(keys[id]) { payload, _ throws(CacheError) in id + (payload.isEmpty ? 1 : 0) }
    }
  }

  /// Prints the cost of repeated hits, each of which returns the number of its user.
  private func hit(_ read: (Int, String) async throws -> Int?) async throws {
    // A value is kept when it is read first, and known to be unchanged when it is read next.
    for _ in 0..<3 { for (user, key) in users { _ = try await read(user.id, key) } }
    var sum: UInt64 = 0
    var measured = Measured()
    for operation in 0..<operations {
      let (user, key) = users[operation % users.count]
      guard let id = try await read(user.id, key) else { throw EntryMissing(key: key) }
      sum &+= UInt64(id)
    }
    measured.end()
    measured.print(operations: operations, sum: sum)
  }
}
