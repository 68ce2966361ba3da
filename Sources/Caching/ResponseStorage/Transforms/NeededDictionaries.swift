internal import FetchVocabulary
internal import StorageSPI

/// The dictionaries that entries need, each read once.
///
/// Checks, exports and migrations go by what is stored: they undo no transform and need no key, so the dictionaries have
/// to be there.
struct NeededDictionaries {
  /// Whether the dictionaries read so far are there, as they were written.
  private var areSound: [TransformDictionaryName: Bool] = [:]

  /// Reads the dictionaries that the entry with `metadata` under `key` needs.
  ///
  /// - Returns: the ones that no earlier entry needed; and why the entry cannot be read, `nil` if it can.
  /// - Throws: `CacheError`: the engine failed.
  mutating func read(
    for key: CacheKey, _ metadata: EntryMetadata, in store: EntryStore
  ) async throws(CacheError) -> (new: [ExportedEntry], problem: String?) {
    guard metadata.transformSteps != nil else {
      return ([], "its attribute '\(EntryMetadata.transformsName)' is not what a transform writes")
    }
    var new: [ExportedEntry] = []
    for name in metadata.dictionaryNames(for: key) {
      if areSound[name] == nil {
        let dictionary = try await store.soundEntry(try name.key)
        areSound[name] = dictionary != nil
        if let dictionary { new.append(dictionary) }
      }
      if areSound[name] == false { return (new, Self.problem(name)) }
    }
    return (new, nil)
  }

  /// Why entries cannot be read that need the dictionary `name`.
  static func problem(_ name: TransformDictionaryName) -> String {
    "the dictionary that it was written with, \(name.identifier), is damaged or gone"
  }
}

extension EntryMetadata {
  /// The names of the dictionaries that the entry under `key` needs.
  func dictionaryNames(for key: CacheKey) -> [TransformDictionaryName] {
    (transformSteps ?? []).compactMap { step in
      guard let identifier = step.dictionary else { return nil }
      return TransformDictionaryName(
        TransformDictionaryName.Scope(namespace: key.namespace, transform: step.name), identifier: identifier)
    }
  }
}

extension EntryStore {
  /// The entry under `key` as it is stored; `nil` if there is none, or it is damaged.
  fileprivate func soundEntry(_ key: CacheKey) async throws(CacheError) -> ExportedEntry? {
    do throws(CacheError) { return try await export(key, history: nil) } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }
}
