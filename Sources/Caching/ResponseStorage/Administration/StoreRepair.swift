public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// Repairs a store that is not open: it keeps the entries whose checksums match, and the checksums of the dictionaries
/// that they need. It drops entries that lack a required transform, or were changed after they were sealed.
public struct StoreRepair: Sendable {
  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  private let transforms: TransformPipeline

  /// Creates the repair of the store that `configuration` describes, whose entries are written with `transforms`.
  public init(
    _ plugin: any StoragePlugin, _ configuration: EngineConfiguration, transforms: EntryTransforms = .none
  ) {
    (self.plugin, self.configuration, self.transforms) = (plugin, configuration, TransformPipeline(transforms))
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
    let refused = Mutex<[CacheKey: IntegrityIssue]>([:])
    let first = try await run(isDryRun, suffix) { [transforms] key, payload, metadata in
      guard metadata.transformSteps != nil else { return false }
      do throws(CacheError) { try transforms.authenticate(payload, metadata, key: key) } catch {
        if let issue = IntegrityIssue(of: key, because: error) {
          refused.withLock { $0[key] = issue }
          return false
        }
      }
      let needed = metadata.dictionaryNames(for: key)
      dictionaries.withLock { dictionaries in
        dictionaries.needed.formUnion(needed)
        if let name = TransformDictionaryName(key) { dictionaries.sound.insert(name) }
      }
      return true
    }
    let issues = refused.withLock(\.self)
    let report = first.explained(by: issues)
    let lacking = dictionaries.withLock { $0.needed.subtracting($0.sound) }
    return lacking.isEmpty ? report : try await remove(needing: lacking, after: report, issues, isDryRun, suffix)
  }

  /// Repairs the store again, without the entries that need one of `lacking`.
  private func remove(
    needing lacking: Set<TransformDictionaryName>, after report: RepairReport, _ refused: [CacheKey: IntegrityIssue],
    _ isDryRun: Bool, _ suffix: String
  ) async throws(CacheError) -> RepairReport {
    // After a dry run, the entries that it has refused are still there.
    let problems = Mutex(isDryRun ? refused : [:])
    var last = try await run(isDryRun, suffix) { key, _, metadata in
      if isDryRun, refused[key] != nil { return false }
      guard let name = metadata.dictionaryNames(for: key).first(where: lacking.contains) else { return true }
      problems.withLock {
        $0[key] = IntegrityIssue(key: key, kind: .undecodable, message: NeededDictionaries.problem(name))
      }
      return false
    }
    last = last.explained(by: problems.withLock(\.self))
    // A dry run has met the same damage twice.
    if isDryRun { return last }
    return RepairReport(
      saved: last.saved, lost: report.lost + last.lost, mended: report.mended + last.mended,
      movedTo: report.movedTo + last.movedTo)
  }

  private func run(
    _ isDryRun: Bool, _ suffix: String, keeping isKept: @escaping RepairPlan.EntryTest
  ) async throws(CacheError) -> RepairReport {
    let plan = RepairPlan.byChecksum(suffix: suffix, keeping: isKept)
    return isDryRun
      ? try await plugin.previewRepair(configuration, plan) : try await plugin.repair(configuration, plan)
  }
}

extension RepairPlan {
  typealias EntryTest = @Sendable (CacheKey, Span<UInt8>, EntryMetadata) -> Bool

  /// A plan that keeps the entries with the right checksum for which `isKept` returns `true`.
  static func byChecksum(suffix: String, keeping isKept: @escaping EntryTest) -> RepairPlan {
    RepairPlan(suffix: suffix) { key, payload, metadata in
      metadata.isSound(key: key, payload: payload) && isKept(key, payload, metadata)
    }
  }
}

extension RepairReport {
  /// This report with the reasons in `issues` for the entries that were lost.
  fileprivate func explained(by issues: [CacheKey: IntegrityIssue]) -> RepairReport {
    RepairReport(
      saved: saved, lost: lost.map { issue in issue.key.flatMap { issues[$0] } ?? issue }, mended: mended,
      movedTo: movedTo)
  }
}
