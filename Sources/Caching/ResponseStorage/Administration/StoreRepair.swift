public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// Repairs a store that is not open: it keeps the entries whose checksums match, and the checksums of the dictionaries
/// that they need.
public struct StoreRepair: Sendable {
  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration

  /// Creates the repair of the store that `configuration` describes.
  public init(_ plugin: any StoragePlugin, _ configuration: EngineConfiguration) {
    (self.plugin, self.configuration) = (plugin, configuration)
  }

  /// What a repair has found out about dictionaries.
  private struct Dictionaries {
    var needed: Set<TransformDictionaryName> = []
    var sound: Set<TransformDictionaryName> = []
  }

  /// Saves what can be read, and sets the damaged files aside.
  ///
  /// Cost: the engine goes through the store once, and once more if a dictionary is damaged or gone.
  ///
  /// - Parameters:
  ///   - suffix: what is appended to the names of damaged files.
  ///   - isDryRun: whether to change nothing and only report what a repair would do.
  /// - Throws: `CacheError`: `unsupported` if the engine cannot repair, or cannot say what it would do; its failure.
  ///   The store is as it was, or every sound entry is saved.
  public func run(suffix: String, isDryRun: Bool) async throws(CacheError) -> RepairReport {
    let dictionaries = Mutex(Dictionaries())
    let report = try await run(isDryRun, suffix) { key, metadata in
      guard metadata.transformSteps != nil else { return false }
      let needed = metadata.dictionaryNames(for: key)
      dictionaries.withLock { dictionaries in
        dictionaries.needed.formUnion(needed)
        if let name = TransformDictionaryName(key) { dictionaries.sound.insert(name) }
      }
      return true
    }
    let lacking = dictionaries.withLock { $0.needed.subtracting($0.sound) }
    return lacking.isEmpty ? report : try await remove(needing: lacking, after: report, isDryRun, suffix)
  }

  /// Repairs the store again, without the entries that need one of `lacking`.
  private func remove(
    needing lacking: Set<TransformDictionaryName>, after report: RepairReport, _ isDryRun: Bool, _ suffix: String
  ) async throws(CacheError) -> RepairReport {
    let problems = Mutex<[CacheKey: String]>([:])
    let last = try await run(isDryRun, suffix) { key, metadata in
      guard let name = metadata.dictionaryNames(for: key).first(where: lacking.contains) else { return true }
      problems.withLock { $0[key] = NeededDictionaries.problem(name) }
      return false
    }
    let found = problems.withLock { $0 }
    let lost = last.lost.map { issue in
      guard let key = issue.key, let problem = found[key] else { return issue }
      return IntegrityIssue(key: key, kind: .undecodable, message: problem)
    }
    // A dry run has met the same damage twice.
    guard !isDryRun else { return RepairReport(saved: last.saved, lost: lost, mended: last.mended) }
    return RepairReport(
      saved: last.saved, lost: report.lost + lost, mended: report.mended + last.mended,
      movedTo: report.movedTo + last.movedTo)
  }

  private func run(
    _ isDryRun: Bool, _ suffix: String, keeping isKept: @escaping @Sendable (CacheKey, EntryMetadata) -> Bool
  ) async throws(CacheError) -> RepairReport {
    let plan = RepairPlan.byChecksum(suffix: suffix, keeping: isKept)
    return isDryRun
      ? try await plugin.previewRepair(configuration, plan) : try await plugin.repair(configuration, plan)
  }
}

extension RepairPlan {
  /// A plan that keeps the entries with the right checksum for which `isKept` returns `true`.
  static func byChecksum(
    suffix: String, keeping isKept: @escaping @Sendable (CacheKey, EntryMetadata) -> Bool
  ) -> RepairPlan {
    RepairPlan(suffix: suffix) { key, payload, metadata in
      metadata.isSound(key: key, payload: payload) && isKept(key, metadata)
    }
  }
}
