public import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// Repairs a store that is not open: it keeps the entries whose checksums match. It drops entries that lack a required
/// transform, or were changed after they were sealed.
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

  /// Saves what can be read, and sets the damaged files aside.
  ///
  /// Cost: the engine goes through the store once.
  ///
  /// - Parameters:
  ///   - suffix: what is appended to the names of damaged files.
  ///   - isDryRun: whether to change nothing and only report what a repair would do.
  /// - Throws: `CacheError`: `unsupported` if the engine cannot repair, or cannot say what it would do; its failure.
  ///   The store is as it was, or every sound entry is saved.
  public func run(suffix: String, isDryRun: Bool) async throws(CacheError) -> RepairReport {
    let refused = Mutex<[CacheKey: IntegrityIssue]>([:])
    let first = try await run(isDryRun, suffix) { [transforms] key, payload, metadata in
      guard metadata.transformSteps != nil else { return false }
      do throws(CacheError) { try transforms.authenticate(payload, metadata, key: key) } catch {
        if let issue = IntegrityIssue(of: key, because: error) {
          refused.withLock { $0[key] = issue }
          return false
        }
      }
      return true
    }
    return first.explained(by: refused.withLock(\.self))
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
