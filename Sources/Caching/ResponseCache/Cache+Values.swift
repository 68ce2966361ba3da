public import FetchVocabulary
internal import HTTPCaching
public import CacheCore
internal import EngineAPI

/// Values under keys.
///
/// Any text is a key, as long as it has at most 16,000 bytes once every byte but letters, digits and `-._~` counts
/// as three. Numbers, texts, arrays and every other `Codable` type are stored as JSON; a `String` as its UTF-8, and
/// `[UInt8]` and Foundation's `Data` unchanged.
extension Cache {
  /// Stores `value` under `key`, and replaces an earlier one.
  ///
  /// - Parameters:
  ///   - lifetime: how long the value is kept; `nil` for as long as the limits allow.
  ///   - freshness: how long it is fresh, if that is less. From then on `value(_:for:)` does not find it any more, but
  ///     `snapshot(_:for:)` does.
  /// - Throws: `CacheError`: `malformed` if the value cannot be encoded, `invalidRequest` if the key is too long,
  ///   `tooLarge`, `overBounds`, `noSpace` or another failure of the engine; `CancellationError` if the task was
  ///   cancelled before. Then nothing has changed.
  public func set<Value: Codable & Sendable>(
    _ value: Value, for key: String, expiresAfter lifetime: Duration? = nil, freshFor freshness: Duration? = nil
  ) async throws {
    try await set(value, for: key, expiresAfter: lifetime, freshFor: freshness, codec: .codable)
  }

  /// Stores `value` under `key` as `codec` encodes it; otherwise like `set(_:for:expiresAfter:freshFor:)`.
  @concurrent
  public func set<Value: Sendable>(
    _ value: Value, for key: String, expiresAfter lifetime: Duration? = nil, freshFor freshness: Duration? = nil,
    codec: PayloadCodec<Value>
  ) async throws {
    // A write that has begun is finished, but a loop of writes must end.
    try Task.checkCancellation()
    try await forCaller { () async throws(CacheError) in
      let (payload, contentType) = try codec.encode(value)
      let now = store.clock.now
      let end = lifetime.map { now.advanced(by: $0) } ?? .distantFuture
      let metadata = EntryMetadata(
        storedAt: now, freshUntil: min(end, freshness.map { now.advanced(by: $0) } ?? end), retainUntil: end,
        contentType: contentType)
      try await store.write(try ValueKey(key).cacheKey, payload: payload, metadata: metadata)
    }
  }

  /// The fresh value under `key`; `nil` if there is none.
  ///
  /// A value that was read before is not decoded again as long as the entry stays the same.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is damaged, `wrongType` if it holds another type, or the engine's failure.
  public func value<Value: Codable & Sendable>(_ type: Value.Type = Value.self, for key: String) async throws -> Value?
  {
    try await value(for: key, codec: .codable)
  }

  /// The fresh value under `key`, which `codec` has encoded; otherwise like `value(_:for:)`.
  public func value<Value: Sendable>(for key: String, codec: PayloadCodec<Value>) async throws -> Value? {
    guard let found = try await find(key, codec), found.metadata.state(at: store.clock.now) == .fresh else {
      return nil
    }
    return found.value
  }

  /// The value under `key`, fresh or stale, with the facts about its entry; `nil` if there is none.
  ///
  /// - Throws: the same errors as `value(_:for:)`.
  public func snapshot<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for key: String
  ) async throws -> Snapshot<Value>? {
    try await snapshot(for: key, codec: .codable)
  }

  /// The value under `key`, which `codec` has encoded; otherwise like `snapshot(_:for:)`.
  public func snapshot<Value: Sendable>(for key: String, codec: PayloadCodec<Value>) async throws -> Snapshot<Value>? {
    guard let found = try await find(key, codec) else { return nil }
    let facts = EntryFacts(
      key: key, storedAt: found.metadata.storedAt.sinceEpoch, freshUntil: found.metadata.freshUntil.sinceEpoch,
      now: store.clock.now.sinceEpoch)
    return Snapshot(value: found.value, source: .cache, entry: facts)
  }

  /// The keys of the values that begin with `prefix` and have not expired, in the order of their bytes as stored.
  /// All of them are in memory at once.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @concurrent
  public func keys(prefix: String = "") async throws -> [String] {
    try await forCaller { () async throws(CacheError) in
      try await store.keys(prefix: ValueKey.prefix(prefix)).map { ValueKey.text(of: $0) }
    }
  }

  /// Makes the value under `key` stale, and returns whether there was a fresh one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidate(_ key: String) async throws -> Bool {
    try await change(.makeStale) { () throws(CacheError) in try ValueKey(key).cacheKey }
  }

  /// Removes the value under `key`, and returns whether there was one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func remove(_ key: String) async throws -> Bool {
    try await change(.remove) { () throws(CacheError) in try ValueKey(key).cacheKey }
  }

  private func find<Value: Sendable>(_ key: String, _ codec: PayloadCodec<Value>) async throws -> Decoded<Value>? {
    do throws(CacheError) {
      let key = try ValueKey(key).cacheKey
      if let kept: Decoded<Value> = try store.kept(key, codec.identifier) { return kept }
      return try await read(key, codec)
    } catch {
      throw error.callersError
    }
  }

  @concurrent
  private func read<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> Decoded<Value>? {
    let found = try await store.decoded(key, codec)
    store.countLookUp(found == nil ? nil : key)
    return found
  }
}

/// The request for a value: any text as a key.
struct ValueKey: CacheableRequest {
  static let resource = "values"
  private static let name = "key"

  let key: String

  init(_ key: String) { self.key = key }

  var parameters: [(name: String, value: String)] { [(Self.name, key)] }

  var cacheKey: CacheKey { get throws(CacheError) { try CacheKey(for: self) } }

  /// The prefix of the keys of all values whose texts begin with `text`.
  static func prefix(_ text: String) -> String {
    "\(CacheKey.prefix(of: Self.self))\(name)=\(PercentEncoding.text(text))"
  }

  /// The text that `key` was made of.
  static func text(of key: CacheKey) -> String {
    String(decoding: PercentEncoding.decoded(key.text.dropFirst(prefix("").utf8.count)), as: UTF8.self)
  }
}
