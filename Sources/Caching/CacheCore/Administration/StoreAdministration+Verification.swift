public import EngineAPI

extension StoreAdministration {
  /// Lets the engine check the structure of the store, then reads each entry and compares its checksums.
  ///
  /// An unreadable entry is an issue, but does not stop the check, unless the engine cannot list the entries behind it. The
  /// leases of requests are checked, but not counted. Checksums are over the stored bytes, so the check needs no key. Sealed
  /// entries whose key is at hand are authenticated too; the others are counted. Cost: each payload is read, in bounded
  /// memory, and a sealed one is opened.
  ///
  /// - Parameter progress: called from time to time with the number of entries checked and the total (`nil` if
  ///   unknown).
  /// - Throws: `CacheError`: the check was impossible, because the store is busy, out of reach or closed, or the task
  ///   was cancelled. Damage is not an error but part of the report.
  public func verify(
    progress: (_ done: Int, _ total: Int?) -> Void = { _, _ in }
  ) async throws(CacheError) -> VerificationReport {
    let total = (try? await store.count())?.entries
    progress(0, total)
    var report = VerificationReport()
    for issue in try await structuralIssues() { report.add(issue) }
    let unreadable = report.keys
    var walk = StoreWalk(store, ScanRequest(includesPayloads: true))
    do throws(CacheError) {
      func skip(_ key: CacheKey, _ reason: String) -> Bool {
        report.entriesChecked += 1
        if !unreadable.contains(key) { report.add(.undecodable(key, reason)) }
        return true
      }
      while let page = try await walk.next(skipping: skip) {
        for entry in page {
          if entry.key.namespace != Lease.namespace { report.entriesChecked += 1 }
          if !unreadable.contains(entry.key) { check(entry, &report) }
        }
        progress(report.entriesChecked, total)
      }
    } catch {
      // A later version of the program might read what this one does not know.
      guard error.isOfData, error.code != .unsupportedFormat else { throw error }
      // The check of the structure might have said it, or named the entry that stops the listing.
      if report.issueCount == 0 { report.add(IntegrityIssue(kind: .structure, message: error.message)) }
    }
    return report
  }

  private func structuralIssues() async throws(CacheError) -> [IntegrityIssue] {
    do throws(CacheError) {
      return try await store.engine.check()
    } catch {
      guard error.isOfData, error.code != .unsupportedFormat else { throw error }
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
  }

  private func check(_ entry: ScannedEntry, _ report: inout VerificationReport) {
    let payload = entry.payload ?? []
    guard entry.metadata.isIntact(key: entry.key, payload: payload.span) else {
      return report.add(
        IntegrityIssue(
          key: entry.key, kind: .checksumMismatch, message: "the payload or the metadata differs from the written one"))
    }
    let (issue, isUnknown) = store.transforms.check(payload.span, entry.metadata, key: entry.key)
    if let issue { report.add(issue) }
    if isUnknown { report.unauthenticated += 1 }
  }
}

extension TransformPipeline {
  /// The problems of the transforms of the entry under `key`, whose checksums are right, and whether they cannot be
  /// checked because the key of its seal is not configured.
  func check(
    _ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey
  ) -> (issue: IntegrityIssue?, isUnknown: Bool) {
    guard metadata.transformSteps != nil else {
      let message = "its attribute '\(EntryMetadata.transformsName)' is not what a transform writes"
      return (.undecodable(key, message), false)
    }
    do throws(CacheError) {
      try authenticate(payload, metadata, key: key)
      return (nil, false)
    } catch {
      switch error.code {
      case .notSealed: return (IntegrityIssue(key: key, kind: .notSealed, message: error.message), false)
      case .damaged: return (IntegrityIssue(key: key, kind: .notAuthentic, message: error.message), false)
      default: return (nil, true)
      }
    }
  }
}

extension IntegrityIssue {
  static func undecodable(_ key: CacheKey, _ message: String) -> IntegrityIssue {
    IntegrityIssue(key: key, kind: .undecodable, message: message)
  }
}

extension IntegrityIssue.Kind {
  /// An entry is not sealed, and the cache serves only sealed ones.
  public static let notSealed = Self(rawValue: "notSealed")
  /// A sealed entry was changed after it was sealed, although its checksums are right.
  public static let notAuthentic = Self(rawValue: "notAuthentic")
}

/// The result of checking a store.
public struct VerificationReport: Sendable {
  /// How many issues to keep: a completely damaged store must not fill the memory.
  public static let maximumIssues = 10_000

  /// The number of entries checked, including unreadable ones that are listed.
  public internal(set) var entriesChecked = 0
  /// The first `maximumIssues` issues found.
  public private(set) var issues: [IntegrityIssue] = []
  /// The total number of issues.
  public private(set) var issueCount = 0
  /// The number of entries that were checked by their checksums alone, because the keys that they are sealed with are not
  /// set up.
  public internal(set) var unauthenticated = 0

  package init() {}

  /// The keys of the entries known to be damaged.
  var keys: Set<CacheKey> { Set(issues.compactMap(\.key)) }

  package mutating func add(_ issue: IntegrityIssue) {
    issueCount += 1
    if issues.count < Self.maximumIssues { issues.append(issue) }
  }
}
