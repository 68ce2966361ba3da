public import FetchVocabulary
internal import StorageSPI

/// Dictionaries, trained from the entries of a store.
extension StoreAdministration {
  /// How many bytes of payloads to train with in each namespace: a hundred times a large dictionary.
  private static let sampleBytes = 12 << 20
  /// The largest payload that is a sample: dictionaries are for small ones.
  private static let maximumSampleSize = 128 << 10
  /// One sample of so many is kept to judge the dictionary by.
  private static let judgeInterval = 8
  /// What a new dictionary has to save, compared to what there is now: a fiftieth.
  private static let minimumGain = 50

  /// Trains a dictionary for each namespace, for each transform that takes one, and writes the entries of the namespace
  /// again with it. A dictionary that does not save a fiftieth more than the present one is dropped. Older ones stay,
  /// as long as entries need them.
  ///
  /// Entries that other processes change meanwhile stay as they are. Cost: each payload is read, and in a namespace with
  /// a new dictionary written; about twenty megabytes of memory.
  ///
  /// - Throws: `CacheError`: `invalidOption` if the store is written without a transform that takes dictionaries; the
  ///   engine failed; `wrongKey`, `unsupported` or `tooLarge` for an entry that cannot be read here; `cancelled`.
  ///   Namespaces that were finished before that stay so.
  public func train() async throws(CacheError) -> [TrainingReport] {
    let transforms = store.transforms.transforms.written.filter(\.takesDictionaries)
    guard !transforms.isEmpty else {
      throw CacheError(
        .invalidOption, "the store is written without a transform that takes dictionaries",
        hint: "add one, such as zstd, to the transforms of the store")
    }
    var reports: [TrainingReport] = []
    for namespace in try await StoreCount(store.engine).tally.withoutLeases.namespaces.keys.sorted() {
      for transform in transforms {
        let scope = TransformDictionaryName.Scope(namespace: namespace, transform: transform.name)
        reports.append(try await train(transform, scope))
      }
    }
    return reports
  }

  private func train(
    _ transform: any PayloadTransform, _ scope: TransformDictionaryName.Scope
  ) async throws(CacheError) -> TrainingReport {
    var report = TrainingReport(namespace: scope.namespace, transform: scope.transform)
    let samples = try await samples(of: scope.namespace)
    report.samples = samples.count
    let judges = samples.enumerated().filter { $0.offset % Self.judgeInterval == 0 }.map(\.element)
    let others = samples.enumerated().filter { $0.offset % Self.judgeInterval != 0 }.map(\.element)
    let present = try await store.dictionaries(forWriting: scope.namespace)[scope.transform]?.dictionary
    guard let bytes = try transform.train(others.map(\.payload)) else { return report }
    report.bytesBefore = try size(of: judges, by: transform, present)
    report.bytesAfter = try size(of: judges, by: transform, try transform.prepare(bytes))
    guard report.bytesAfter < report.bytesBefore - report.bytesBefore / Self.minimumGain else { return report }
    try await store.write(dictionary: bytes, for: scope)
    report.dictionaryBytes = bytes.count
    report.rewritten = try await rewrite(scope.namespace)
    report.removedDictionaries = try await removeUnusedDictionaries(scope)
    return report
  }

  /// Payloads of the namespace before any transforms, from all over it.
  private func samples(of namespace: String) async throws(CacheError) -> [TrainingSamples.Sample] {
    var samples = TrainingSamples(maximumBytes: Self.sampleBytes)
    try await visit(EntrySelection(namespace: namespace), after: nil) { page throws(CacheError) in
      for summary in page where summary.payloadBytes <= Self.maximumSampleSize && samples.isNextTaken() {
        guard let payload = try await soundEntry(summary.key)?.payload, payload.count <= Self.maximumSampleSize else {
          continue
        }
        samples.add((summary.key, payload))
      }
      await store.engine.releaseMemory()
      return true
    }
    return samples.samples
  }

  /// The entry under `key`; `nil` if there is none, or one that is damaged or not sealed.
  private func soundEntry(_ key: CacheKey) async throws(CacheError) -> StoredEntry? {
    do throws(CacheError) {
      return try await entry(key)
    } catch {
      guard [.damaged, .notSealed].contains(error.code) else { throw error }
      return nil
    }
  }

  private func size(
    of samples: [TrainingSamples.Sample], by transform: any PayloadTransform,
    _ dictionary: (any TransformDictionary)?
  ) throws(CacheError) -> Int {
    var size = 0
    for (key, payload) in samples {
      let context = store.transforms.context(.payload, of: key, dictionary)
      size += try transform.encode(payload.span, context)?.bytes.count ?? payload.count
    }
    return size
  }

  /// Writes the unexpired entries of the namespace again, and returns how many.
  private func rewrite(_ namespace: String) async throws(CacheError) -> Int {
    var count = 0
    try await visit(EntrySelection(namespace: namespace), after: nil) { page throws(CacheError) in
      for summary in page where summary.metadata.state(at: store.clock.now) != .expired {
        guard let entry = try await soundEntry(summary.key) else { continue }
        let metadata = entry.summary.metadata
        do throws(CacheError) {
          try await store.write(
            summary.key, payload: entry.payload, metadata: metadata, expecting: .checksum(metadata.checksum))
          count += 1
        } catch {
          guard error.code == .conflict else { throw error }
        }
      }
      await store.engine.releaseMemory()
      return true
    }
    return count
  }

  /// How long a replaced dictionary is kept at least: other processes may still be writing with it.
  private static let grace = Duration.seconds(86_400)

  /// Removes the dictionaries that are neither of the two newest, were replaced a day ago or earlier, and that no entry
  /// needs.
  private func removeUnusedDictionaries(_ scope: TransformDictionaryName.Scope) async throws(CacheError) -> Int {
    let found = try await store.dictionaries(prefix: scope.keyPrefix)
    let deadline = store.clock.now.advanced(by: .zero - Self.grace)
    // The newest comes first, so that the one before it has replaced each.
    var unused: [TransformDictionaryName: UInt64] = [:]
    for index in found.indices.dropFirst(2) where found[index - 1].metadata.storedAt < deadline {
      unused[found[index].name] = found[index].metadata.checksum
    }
    guard !unused.isEmpty else { return 0 }
    try await visit(EntrySelection(namespace: scope.namespace), after: nil) { page in
      for entry in page {
        for name in entry.metadata.dictionaryNames(for: entry.key) { unused[name] = nil }
      }
      return !unused.isEmpty
    }
    var batch = WriteBatch()
    for (name, checksum) in unused { batch.remove(try name.key, ifStill: checksum) }
    do throws(CacheError) {
      if !unused.isEmpty { try await store.engine.apply(batch) }
      return unused.count
    } catch {
      // Another process has just removed or sealed one of them. The next training removes the rest.
      guard error.code == .conflict else { throw error }
      return 0
    }
  }
}

extension EntryStore {
  /// Stores a new dictionary, with which this process writes from now on.
  fileprivate func write(
    dictionary bytes: [UInt8], for scope: TransformDictionaryName.Scope
  ) async throws(CacheError) {
    let now = clock.now
    let name = TransformDictionaryName(scope, identifier: TransformDictionaryName.identifier(of: bytes))
    let checksum = try await write(name, bytes, storedAt: now)
    let loaded = LoadedDictionary(name: name, checksum: checksum, dictionary: try transforms.load(name, bytes))
    transforms.note(DictionaryChoice(dictionary: loaded, chosenAt: now), for: scope)
  }
}

/// Payloads in even distances from all over a namespace, however many there are and however they are compressed.
///
/// At first each payload is taken. Whenever they become too many, every second one goes, and from then on half as many
/// are taken.
private struct TrainingSamples {
  typealias Sample = (key: CacheKey, payload: [UInt8])

  private(set) var samples: [Sample] = []
  private let maximumBytes: Int
  private var bytes = 0
  private var (stride, seen) = (1, 0)

  /// No samples yet, and never more than `maximumBytes`.
  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Whether the next entry is to be a sample.
  mutating func isNextTaken() -> Bool {
    seen += 1
    return seen % stride == 0
  }

  mutating func add(_ sample: Sample) {
    samples.append(sample)
    bytes += sample.payload.count
    while bytes > maximumBytes {
      stride *= 2
      samples = samples.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      bytes = samples.reduce(0) { $0 + $1.payload.count }
    }
  }
}

/// The result of training a dictionary for one namespace.
public struct TrainingReport: Sendable, Hashable {
  /// The namespace.
  public let namespace: String
  /// The transform that the dictionary is for.
  public let transform: String
  /// The number of payloads that were used.
  public internal(set) var samples = 0
  /// The size of an eighth of the samples as it is stored so far, and with the new dictionary; both 0 if none was made.
  public internal(set) var bytesBefore = 0
  /// See `bytesBefore`.
  public internal(set) var bytesAfter = 0
  /// The size of the new dictionary in bytes; `nil` if the store goes on as before.
  public internal(set) var dictionaryBytes: Int?
  /// The number of entries that were written again.
  public internal(set) var rewritten = 0
  /// The number of old dictionaries that were removed, because no entry needs them.
  public internal(set) var removedDictionaries = 0

  package init(namespace: String, transform: String) { (self.namespace, self.transform) = (namespace, transform) }
}
