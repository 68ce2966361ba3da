internal import FetchVocabulary
internal import StorageSPI

/// The name of a dictionary, which is an entry of the store.
///
/// Dictionaries are with the leases, in the namespace of what the store keeps for itself: engines leave it out of limits,
/// it is never evicted, and listings do not show it.
struct TransformDictionaryName: Sendable, Hashable {
  /// What a dictionary is for.
  struct Scope: Sendable, Hashable {
    let namespace: String
    let transform: String

    /// The prefix of the keys of all dictionaries with this scope.
    var keyPrefix: String { "\(TransformDictionaryName.prefix(ofNamespace: namespace))\(transform)=" }
  }

  /// The prefix of the keys of all dictionaries.
  static let keyPrefix = Lease.keyPrefix + "dictionaries/"

  /// The prefix of the keys of all dictionaries for `namespace`.
  static func prefix(ofNamespace namespace: String) -> String { "\(keyPrefix)\(namespace)/" }

  let scope: Scope
  /// The digest of its content.
  let identifier: String

  init(_ scope: Scope, identifier: String) { (self.scope, self.identifier) = (scope, identifier) }

  /// The name in a key; `nil` if it is the key of something else.
  init?(_ key: CacheKey) {
    guard key.text.hasPrefix(Self.keyPrefix) else { return nil }
    let words = key.text.dropFirst(Self.keyPrefix.count).split(separator: "/", omittingEmptySubsequences: false)
    let parts = words.last?.split(separator: "=", omittingEmptySubsequences: false) ?? []
    guard words.count == 2, parts.count == 2 else { return nil }
    self.init(Scope(namespace: String(words[0]), transform: String(parts[0])), identifier: String(parts[1]))
    guard TransformStep.isName(scope.transform), Self.isIdentifier(identifier) else { return nil }
  }

  var key: CacheKey { get throws(CacheError) { try CacheKey(scope.keyPrefix + identifier) } }

  /// Whether `text` can be the identifier of a dictionary: 16 hexadecimal digits.
  static func isIdentifier(_ text: String) -> Bool {
    Hexadecimal.number(text.utf8, as: UInt64.self).map { Hexadecimal.text($0) == text } ?? false
  }

  /// The identifier of the dictionary with this content.
  static func identifier(of bytes: [UInt8]) -> String { Hexadecimal.text(EntryMetadata.xxh3(bytes.span, seed: 0)) }
}

/// A dictionary that is ready for use.
struct LoadedDictionary: Sendable {
  let name: TransformDictionaryName
  /// The checksum of its entry. A batch with an entry that needs the dictionary requires it.
  let checksum: UInt64
  let dictionary: any TransformDictionary
}

/// The dictionary that a namespace is written with; `nil` if it has none.
struct DictionaryChoice: Sendable {
  /// How long a choice holds: another process may have trained a better dictionary.
  private static let duration = Duration.seconds(60)

  let dictionary: LoadedDictionary?
  let chosenAt: Timestamp

  /// Whether the choice still holds at `now`.
  func isRecent(at now: Timestamp) -> Bool {
    now >= chosenAt && now.duration(since: chosenAt) < Self.duration
  }
}

extension EntryStore {
  /// The dictionaries to write entries of `namespace` with, by the names of the transforms.
  ///
  /// - Parameter isAnew: whether to look in the store, also if that was done within the last minute.
  /// - Throws: `CacheError`: the engine failed.
  func dictionaries(
    forWriting namespace: String, isAnew: Bool = false
  ) async throws(CacheError) -> [String: LoadedDictionary] {
    var dictionaries: [String: LoadedDictionary] = [:]
    for transform in transforms.transforms.written where transform.takesDictionaries {
      let scope = TransformDictionaryName.Scope(namespace: namespace, transform: transform.name)
      let choice = isAnew ? nil : transforms.choice(scope, at: clock.now)
      dictionaries[transform.name] = if let choice { choice.dictionary } else { try await choose(scope) }
    }
    return dictionaries
  }

  /// Chooses the newest dictionary that can be used. Seals a dictionary that was stored before entries were sealed.
  private func choose(_ scope: TransformDictionaryName.Scope) async throws(CacheError) -> LoadedDictionary? {
    let now = clock.now
    var found: LoadedDictionary?
    for (name, metadata) in try await dictionaries(prefix: scope.keyPrefix) {
      // A dictionary that is damaged, or sealed with a key that is not here, must not keep entries from being written.
      do throws(CacheError) {
        let checksum = try await seal(name, metadata)
        if found == nil, let dictionary = try await load(name) {
          found = LoadedDictionary(name: name, checksum: checksum, dictionary: dictionary)
        }
      } catch {
        guard error.isOfOneEntry else { throw error }
      }
    }
    transforms.note(DictionaryChoice(dictionary: found, chosenAt: now), for: scope)
    return found
  }

  /// Hides the dictionary `name` if entries are hidden and it is not, and returns the checksum of its entry.
  private func seal(
    _ name: TransformDictionaryName, _ metadata: EntryMetadata
  ) async throws(CacheError) -> UInt64 {
    let applied = metadata.transformSteps?.map(\.name) ?? []
    guard transforms.hiding.contains(where: { !applied.contains($0.name) }), let bytes = try await content(of: name)
    else { return metadata.checksum }
    do throws(CacheError) {
      return try await write(name, bytes, storedAt: metadata.storedAt, expecting: .checksum(metadata.checksum))
    } catch {
      // Another process has just done that. The entry that is to be written requires the old one, and is tried again.
      guard error.code == .conflict else { throw error }
      return metadata.checksum
    }
  }

  /// Stores the dictionary `name`, hidden if entries are, and returns the checksum of its entry.
  ///
  /// - Throws: `CacheError`: the engine failed, or there is another entry than expected (`conflict`).
  func write(
    _ name: TransformDictionaryName, _ bytes: [UInt8], storedAt: Timestamp,
    expecting: WriteBatch.Expectation? = nil
  ) async throws(CacheError) -> UInt64 {
    let key = try name.key
    let plain = EntryMetadata(
      storedAt: storedAt, freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "application/octet-stream")
    var (payload, metadata, _) = try transforms.encoded(bytes, plain, key: key, with: transforms.hiding)
    metadata.checksum = metadata.computedChecksum(key: key, payload: payload.span)
    var batch = WriteBatch()
    if let expecting { batch.require(key, expecting) }
    batch.put(key, payload: payload, metadata: metadata)
    try await engine.apply(batch)
    return metadata.checksum
  }

  /// The names of the dictionaries whose keys begin with `prefix`, and the metadata of their entries, the newest first.
  func dictionaries(
    prefix: String
  ) async throws(CacheError) -> [(name: TransformDictionaryName, metadata: EntryMetadata)] {
    let found = try await engine.scan(KeyRange(prefix: prefix), limit: Self.maximumDictionaries)
    return found.sorted { ($0.metadata.storedAt, $0.key) > ($1.metadata.storedAt, $1.key) }
      .compactMap { entry in TransformDictionaryName(entry.key).map { (name: $0, metadata: entry.metadata) } }
  }

  /// Removes all dictionaries, and returns whether there were any. From then on no process writes with one of them.
  ///
  /// - Throws: `CacheError`: the engine failed.
  func removeDictionaries() async throws(CacheError) -> Bool {
    var batch = WriteBatch()
    for (name, _) in try await dictionaries(prefix: TransformDictionaryName.keyPrefix) { batch.remove(try name.key) }
    if !batch.operations.isEmpty { try await engine.apply(batch) }
    transforms.forgetDictionaries()
    return !batch.operations.isEmpty
  }

  /// The largest number of dictionaries to look at.
  static var maximumDictionaries: Int { 1_000 }

  /// Loads the dictionaries that the entry under `key` needs, and returns whether it loaded any.
  ///
  /// - Throws: `CacheError`: the engine failed, or a dictionary is damaged or sealed with another key.
  func loadDictionaries(for key: CacheKey) async throws(CacheError) -> Bool {
    let metadata = try await engine.read(key) { _, metadata in metadata }
    var hasLoaded = false
    for name in metadata.map({ transforms.missingDictionaries($0, key: key) }) ?? [] {
      if try await load(name) != nil { hasLoaded = true }
    }
    return hasLoaded
  }

  /// Reads the dictionary `name` from the store; `nil` if there is none.
  @discardableResult
  private func load(_ name: TransformDictionaryName) async throws(CacheError) -> (any TransformDictionary)? {
    if let loaded = transforms.loaded(name) { return loaded }
    guard let bytes = try await content(of: name) else { return nil }
    return try transforms.load(name, bytes)
  }

  /// The dictionary `name` as it was trained; `nil` if the store has none.
  private func content(of name: TransformDictionaryName) async throws(CacheError) -> [UInt8]? {
    let key = try name.key
    return try await engine.read(key) { [transforms] bytes, metadata throws(CacheError) in
      try metadata.verify(key: key, payload: bytes)
      return try transforms.decoded(bytes, metadata, key: key)
    }
  }
}
