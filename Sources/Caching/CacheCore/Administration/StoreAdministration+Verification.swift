public import FetchVocabulary
public import StorageSPI

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
    let total = try? await store.count().entries
    progress(0, total)
    var report = VerificationReport()
    for issue in try await structuralIssues() { report.add(issue) }
    let unreadable = report.keys
    var walk = StoreWalk(store, ScanRequest(includesPayloads: true))
    while true {
      do throws(CacheError) {
        guard let page = try await walk.next() else { return report }
        for entry in page {
          if entry.key.namespace != Lease.namespace { report.entriesChecked += 1 }
          if !unreadable.contains(entry.key) { check(entry, &report) }
        }
        progress(report.entriesChecked, total)
      } catch {
        guard error.isOfData else { throw error }
        if let key = walk.skip(error) {
          report.entriesChecked += 1
          if !unreadable.contains(key) { report.add(.undecodable(key, error.message)) }
          continue
        }
        // A later version of the program may read what this one does not know.
        if error.code == .unsupportedFormat { throw error }
        // The check of the structure may have said it, or named the entry that stops the listing.
        if report.issueCount == 0 { report.add(IntegrityIssue(kind: .structure, message: error.message)) }
        return report
      }
    }
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
          key: entry.key, kind: .checksumMismatch, message: "the payload or the metadata is not what was written"))
    }
    guard entry.metadata.transformSteps != nil else { return report.add(.unknownTransforms(entry.key)) }
    do throws(CacheError) {
      try store.transforms.authenticate(payload.span, entry.metadata, key: entry.key)
    } catch {
      if let issue = IntegrityIssue(of: entry.key, because: error) {
        report.add(issue)
      } else {
        report.unauthenticated += 1
      }
    }
  }
}

extension IntegrityIssue {
  /// The issue with the entry under `key` that `TransformPipeline.authenticate` has found; `nil` if it could not tell.
  init?(of key: CacheKey, because error: CacheError) {
    switch error.code {
    case .notSealed: self.init(key: key, kind: .notSealed, message: error.message)
    case .damaged: self.init(key: key, kind: .notAuthentic, message: error.message)
    default: return nil
    }
  }

  static func undecodable(_ key: CacheKey, _ message: String) -> IntegrityIssue {
    IntegrityIssue(key: key, kind: .undecodable, message: message)
  }

  static func unknownTransforms(_ key: CacheKey) -> IntegrityIssue {
    .undecodable(key, "its attribute '\(EntryMetadata.transformsName)' is not what a transform writes")
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

  init() {}

  /// The keys of the entries known to be damaged.
  var keys: Set<CacheKey> { Set(issues.compactMap(\.key)) }

  mutating func add(_ issue: IntegrityIssue) {
    issueCount += 1
    if issues.count < Self.maximumIssues { issues.append(issue) }
  }
}
