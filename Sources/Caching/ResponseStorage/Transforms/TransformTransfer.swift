internal import FetchVocabulary
internal import StorageSPI

/// Exports and migrations copy what is stored: no transform is undone, so they need no key, and lose nothing. The
/// dictionaries go along.
extension EntryStore {
  /// The entries of the dictionaries that entries selected by `selection` may need.
  ///
  /// - Throws: `CacheError`: the engine failed. A damaged dictionary is left out.
  func exportedDictionaries(for selection: EntrySelection) async throws(CacheError) -> [ExportedEntry] {
    guard let keyPrefix = selection.keyPrefix else { return [] }
    let namespace = keyPrefix.contains("/") ? keyPrefix.prefix { $0 != "/" } : nil
    let prefix = namespace.map { TransformDictionaryName.prefix(ofNamespace: String($0)) }
    var entries: [ExportedEntry] = []
    for (name, _) in try await dictionaries(prefix: prefix ?? TransformDictionaryName.keyPrefix) {
      do throws(CacheError) {
        if let entry = try await export(try name.key, history: nil) { entries.append(entry) }
      } catch {
        guard error.code == .damaged else { throw error }
      }
    }
    return entries
  }

  /// The dictionary that the entry with `metadata` under `key` needs and the store has not got; `nil` if nothing is
  /// missing. `known` remembers the dictionaries that were found.
  func lackingDictionary(
    of key: CacheKey, _ metadata: EntryMetadata, known: inout Set<String>
  ) async throws(CacheError) -> String? {
    for step in metadata.transformSteps {
      guard let identifier = step.dictionary else { continue }
      let scope = TransformDictionaryName.Scope(namespace: key.namespace, transform: step.name)
      let dictionary = try TransformDictionaryName(scope, identifier: identifier).key
      if known.contains(dictionary.text) { continue }
      guard try await engine.read(dictionary, { _, _ in true }) != nil else { return identifier }
      known.insert(dictionary.text)
    }
    return nil
  }
}
