public import FetchVocabulary
internal import HTTPCaching
public import CacheCore
internal import EngineAPI

/// Values under keys.
///
/// Any text is a key, as long as it has at most 16,000 bytes once every byte but letters, digits and `-._~` counts
/// as three. Numbers, texts, arrays and every other `Codable` type are stored as JSON; a `String` as its UTF-8, and
/// `[UInt8]` and Foundation's `Data` unchanged.
///
/// These methods throw `CacheError` alone, with the code `cancelled` if the calling task was cancelled.
extension Cache {
  /// Stores `value` under `key`, and replaces an earlier one.
  ///
  /// - Parameters:
  ///   - version: the version of the type, which is part of the key: values of other versions are not found.
  ///   - lifetime: how long the value is kept; `nil` for as long as the limits allow.
  ///   - freshness: how long it is fresh, if that is less. From then on `value(_:for:version:)` does not find it any more,
  ///     but `snapshot(_:for:version:)` does.
  /// - Throws: `CacheError`: `malformed` if the value cannot be encoded, `invalidRequest` if the key is too long,
  ///   `tooLarge`, `overBounds`, `noSpace` or another failure of the engine, `cancelled` if the task was cancelled before.
  ///   Then nothing has changed.
  public func set<Value: Codable & Sendable>(
    _ value: Value, for key: String, version: Int = 1, expiresAfter lifetime: Duration? = nil,
    freshFor freshness: Duration? = nil
  ) async throws(CacheError) {
    try await set(
      value, for: key, version: version, expiresAfter: lifetime, freshFor: freshness, codec: .codable)
  }

  /// Stores `value` under `key` as `codec` encodes it; otherwise like `set(_:for:version:expiresAfter:freshFor:)`.
  public func set<Value: Sendable>(
    _ value: Value, for key: String, version: Int = 1, expiresAfter lifetime: Duration? = nil,
    freshFor freshness: Duration? = nil, codec: PayloadCodec<Value>
  ) async throws(CacheError) {
    try await store(
      CollectionOfOne((key, value)), version: version, expiresAfter: lifetime, freshFor: freshness, codec: codec)
  }

  /// Stores several values under their keys in one commit: all of them, or none. On a cluster of servers, each server
  /// commits its own. Otherwise like `set(_:for:version:expiresAfter:freshFor:)`.
  public func set<Value: Codable & Sendable>(
    _ values: [String: Value], version: Int = 1, expiresAfter lifetime: Duration? = nil,
    freshFor freshness: Duration? = nil
  ) async throws(CacheError) {
    try await store(
      values.map { ($0.key, $0.value) }, version: version, expiresAfter: lifetime, freshFor: freshness,
      codec: .codable)
  }

  @concurrent
  private func store<Value: Sendable>(
    _ values: some Collection<(String, Value)> & Sendable, version: Int, expiresAfter lifetime: Duration?,
    freshFor freshness: Duration?,
    codec: PayloadCodec<Value>
  ) async throws(CacheError) {
    // A write that has begun is finished, but a loop of writes must end.
    if Task.isCancelled { throw .cancelled }
    let now = store.clock.now
    let end = lifetime.map { now.advanced(by: $0) } ?? .distantFuture
    var entries: [(key: CacheKey, payload: [UInt8], metadata: EntryMetadata)] = []
    for (key, value) in values {
      let (payload, contentType) = try codec.encode(value)
      let metadata = EntryMetadata(
        storedAt: now, freshUntil: min(end, freshness.map { now.advanced(by: $0) } ?? end), retainUntil: end,
        contentType: contentType)
      entries.append((try ValueKey(key, version).cacheKey, payload, metadata))
    }
    try await store.write(entries)
  }

  /// The fresh value under `key`; `nil` if there is none.
  ///
  /// A value that was read before is not decoded again as long as the entry stays the same.
  ///
  /// - Throws: `CacheError`: `damaged` if the entry is damaged, `wrongType` if it holds another type, or the engine's failure.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for key: String, version: Int = 1
  ) async throws(CacheError) -> Value? {
    try await value(for: key, version: version, codec: .codable)
  }

  /// The fresh value under `key`, which `codec` has encoded; otherwise like `value(_:for:version:)`.
  public func value<Value: Sendable>(
    for key: String, version: Int = 1, codec: PayloadCodec<Value>
  ) async throws(CacheError) -> Value? {
    // The rest of this function would cost a kept value a fifth of its time.
    if observe == nil, let kept = try keptFresh(try ValueKey(key, version).cacheKey, codec) { return kept.value }
    return try await find(key, version, codec, servingStale: false)?.value
  }

  /// The fresh values under `keys`, by key. Keys without one are missing.
  ///
  /// - Throws: the same errors as `value(_:for:version:)`.
  public func values<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for keys: some Sequence<String>, version: Int = 1
  ) async throws(CacheError) -> [String: Value] {
    var values: [String: Value] = [:]
    for key in keys { values[key] = try await value(for: key, version: version) }
    return values
  }

  /// The fresh value under `key`; if there is none, what `fetch` returns, which is stored under `key`.
  ///
  ///     let user = try await cache.value(for: "user/42", expiresAfter: .seconds(3600)) { try await api.user(42) }
  ///
  /// Callers that find no value at the same time share one call of `fetch`, in this process and, with an engine that
  /// processes can share, in all of them. A value that is set meanwhile is newer, and stays in the store. A stale value is
  /// not served if `fetch` fails: a resource does that. A failing store costs no result: its failures go to the cache's
  /// `warn`.
  ///
  /// - Parameters:
  ///   - lifetime: how long the value is kept; `nil` for as long as the limits allow.
  ///   - fetch: makes the value.
  /// - Throws: what `fetch` throws; `CacheError` with its message if a call in another process failed;
  ///   `CancellationError`.
  public func value<Value: Codable & Sendable>(
    for key: String, version: Int = 1, expiresAfter lifetime: Duration? = nil,
    orFetch fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let call = observer(of: ValueKey.resource)?.begin()
    let request = ValueKey(key, version)
    let codec = PayloadCodec<Value>.codable
    // A failure is reported by the fetch, which looks again.
    if let cacheKey = try? request.cacheKey, let kept = try? keptFresh(cacheKey, codec) {
      call?.end(.hit)
      return kept.value
    }
    if isOnActor(#isolation), let cacheKey = try? request.cacheKey,
      let found = try? store.decodedNow(cacheKey, codec) ?? nil, found.metadata.state(at: store.clock.now) == .fresh
    {
      store.countLookUp(cacheKey)
      call?.end(.hit)
      return found.value
    }
    return try await fetched(request, codec, expiresAfter: lifetime, call, fetch)
  }

  @concurrent
  private func fetched<Value: Sendable>(
    _ request: ValueKey, _ codec: PayloadCodec<Value>, expiresAfter lifetime: Duration?, _ call: Observer.Call?,
    _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if let cacheKey = try? request.cacheKey, let found = try? await store.decoded(cacheKey, codec),
      found.metadata.state(at: store.clock.now) == .fresh
    {
      store.countLookUp(cacheKey)
      call?.end(.hit)
      return found.value
    }
    var services = services
    services.rules = HTTPCacheRules(
      freshness: FreshnessPolicy(timeToLive: lifetime ?? .seconds(Int64.max), staleIfError: .zero))
    let snapshots = CacheCore.fetch(
      request, storage: EngineResponseStorage(store: store, codec: codec, replacesFresh: false),
      origin: ClosureOrigin(name: "the value for '\(request.key)'") { Fetched(try await fetch()) }, services: services,
      options: FetchOptions(), toDomain: { $0 })
    return try await SnapshotSequence(snapshots, observer(of: ValueKey.resource)).first(warn: warn)
  }

  /// The value under `key`, fresh or stale, with the facts about its entry; `nil` if there is none.
  ///
  /// - Throws: the same errors as `value(_:for:version:)`.
  public func snapshot<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for key: String, version: Int = 1
  ) async throws(CacheError) -> Snapshot<Value>? {
    try await snapshot(for: key, version: version, codec: .codable)
  }

  /// The value under `key`, which `codec` has encoded; otherwise like `snapshot(_:for:version:)`.
  public func snapshot<Value: Sendable>(
    for key: String, version: Int = 1, codec: PayloadCodec<Value>
  ) async throws(CacheError) -> Snapshot<Value>? {
    guard let found = try await find(key, version, codec, servingStale: true) else { return nil }
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
  public func keys(prefix: String = "", version: Int = 1) async throws(CacheError) -> [String] {
    try await store.keys(prefix: ValueKey.prefix(prefix)).compactMap { key in
      let value = ValueKey(key)
      return value.version == version ? value.key : nil
    }
  }

  /// Makes the value under `key` stale, and returns whether there was a fresh one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidate(_ key: String, version: Int = 1) async throws(CacheError) -> Bool {
    try await change(.makeStale, [ValueKey(key, version)]) > 0
  }

  /// Makes all values stale whose keys begin with `prefix`, of all versions, and returns how many were fresh.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidateAll(prefix: String) async throws(CacheError) -> Int {
    try await change(.makeStale, prefix: ValueKey.prefix(prefix))
  }

  /// Removes the value under `key`, and returns whether there was one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func remove(_ key: String, version: Int = 1) async throws(CacheError) -> Bool {
    try await remove(CollectionOfOne(key), version: version) > 0
  }

  /// Removes the values under `keys`, and returns how many there were.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func remove(_ keys: some Sequence<String>, version: Int = 1) async throws(CacheError) -> Int {
    try await change(.remove, keys.map { ValueKey($0, version) })
  }

  /// Removes all values whose keys begin with `prefix`, of all versions, and returns how many there were.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func removeAll(prefix: String) async throws(CacheError) -> Int {
    try await change(.remove, prefix: ValueKey.prefix(prefix))
  }

  /// The value under `key`, if it is at hand, decoded and unchanged since, and fresh. Counts a hit.
  private func keptFresh<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) throws(CacheError) -> Decoded<Value>? {
    let now = store.clock.now
    return try store.kept(key, codec.identifier, where: { $0.metadata.state(at: now) == .fresh })
  }

  private func find<Value: Sendable>(
    _ key: String, _ version: Int, _ codec: PayloadCodec<Value>, servingStale: Bool
  ) async throws(CacheError) -> Decoded<Value>? {
    let call = observer(of: ValueKey.resource)?.begin()
    do throws(CacheError) {
      let key = try ValueKey(key, version).cacheKey
      let kept: Decoded<Value>? = try store.kept(key, codec.identifier)
      let found = if let kept { kept } else { try await read(key, codec) }
      let isFresh = found?.metadata.state(at: store.clock.now) == .fresh
      guard let found, isFresh || servingStale else {
        call?.end(.missing)
        return nil
      }
      call?.end(isFresh ? .hit : .stale)
      return found
    } catch {
      call?.end(error)
      throw error
    }
  }

  private func read<Value: Sendable>(
    _ key: CacheKey, _ codec: PayloadCodec<Value>
  ) async throws(CacheError) -> Decoded<Value>? {
    // To leave an actor and return to it takes longer than to read and decode a small entry.
    guard isOnActor(#isolation), let found = try store.decodedNow(key, codec) else {
      return try await readAnySize(key, codec)
    }
    store.countLookUp(found == nil ? nil : key)
    return found
  }

  @concurrent
  private func readAnySize<Value: Sendable>(
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
  private static let versionName = "version"

  let key: String
  /// Not part of the entry's key if it is 1.
  let version: Int

  init(_ key: String, _ version: Int = 1) {
    self.key = key
    self.version = version
  }

  /// The value that `key` is the key of.
  init(_ key: CacheKey) {
    let parts = key.text.utf8.dropFirst(Self.prefix("").utf8.count)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    self.key = parts.first.map { String(decoding: PercentEncoding.decoded(Substring($0)), as: UTF8.self) } ?? ""
    version = parts.dropFirst().first.flatMap { Int(String(Substring($0)).dropFirst(Self.versionName.count + 1)) } ?? 1
  }

  var parameters: [(name: String, value: String)] {
    [(Self.name, key)] + (version == 1 ? [] : [(Self.versionName, String(version))])
  }

  var cacheKey: CacheKey { get throws(CacheError) { try CacheKey(for: self) } }

  /// The prefix of the keys of all values whose texts begin with `text`.
  static func prefix(_ text: String) -> String {
    "\(CacheKey.prefix(of: Self.self))\(name)=\(PercentEncoding.text(text))"
  }
}
