public import FetchVocabulary
public import StorageSPI

extension StoreAdministration {
  /// Lets the engine check the structure of the store, then reads each entry and compares its checksum.
  ///
  /// An unreadable entry is an issue, but does not stop the check, unless the engine cannot list the entries behind it. The leases of flights are checked, but not counted.
  /// Checksums are over the stored bytes, so the check needs no key. Sealed entries whose key is at hand are authenticated
  /// too; the others are counted. Cost: each payload is read twice, in bounded memory, and a sealed one is opened.
  ///
  /// - Parameter progress: called from time to time with the number of entries checked and the total (`nil` if
  ///   unknown).
  /// - Throws: `CacheError`: the check was impossible, because the store is busy, out of reach or closed, or the task
  ///   was cancelled. Damage is not an error but part of the report.
  public func verify(
    progress: (_ done: Int, _ total: Int?) -> Void = { _, _ in }
  ) async throws(CacheError) -> VerificationReport {
    let total = try? await store.count()
    progress(0, total)
    var report = VerificationReport()
    for issue in try await structuralIssues() { report.add(issue) }
    let unreadable = report.keys
    var (walk, ahead) = (StoreWalk(engine: store.engine), ReadAhead(store.engine))
    do throws(CacheError) {
      while let page = try await walk.next() {
        await store.engine.releaseMemory()
        ahead.expect(page)
        for entry in page {
          if entry.key.namespace != Lease.namespace { report.entriesChecked += 1 }
          if unreadable.contains(entry.key) { continue }
          switch try await check(entry, &ahead) {
          case .sound: break
          case .unauthenticated: report.unauthenticated += 1
          case .issue(let issue): report.add(issue)
          }
        }
        progress(report.entriesChecked, total)
      }
    } catch {
      // A later version of the program may read what this one does not know.
      guard error.isOfData, error.code != .unsupportedFormat else { throw error }
      // The check of the structure may have said it, or named the entry that stops the listing.
      if report.issueCount == 0 { report.add(IntegrityIssue(kind: .structure, message: error.message)) }
    }
    return report
  }

  private func structuralIssues() async throws(CacheError) -> [IntegrityIssue] {
    do throws(CacheError) {
      return try await store.engine.checkIntegrity()
    } catch {
      guard error.isOfData, error.code != .unsupportedFormat else { throw error }
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
  }

  private enum Finding: Sendable {
    /// Nothing is wrong, or the entry has been removed since.
    case sound
    /// The checksum is right, but the key that the entry is sealed with is not here.
    case unauthenticated
    case issue(IntegrityIssue)
  }

  private func check(
    _ entry: EntrySummary, _ ahead: inout ReadAhead
  ) async throws(CacheError) -> Finding {
    let key = entry.key
    do throws(CacheError) {
      let finding = try await ahead.read(key) { [transforms = store.transforms] bytes, metadata throws(CacheError) in
        guard metadata.isSound(key: key, payload: bytes) else { return Finding.issue(.mismatch(key)) }
        guard metadata.transformSteps != nil else { return Finding.issue(.unknownTransforms(key)) }
        do throws(CacheError) { try transforms.authenticate(bytes, metadata, key: key) } catch {
          return IntegrityIssue(of: key, because: error).map(Finding.issue) ?? .unauthenticated
        }
        return .sound
      }
      if let finding { return finding }
      // It may have been removed by now; but if it is still listed, it must be readable.
      let listed = try await store.engine.scan(KeyRange(prefix: key.text), limit: 1)
      guard listed.first == entry else { return .sound }
      return .issue(IntegrityIssue(key: key, kind: .structure, message: "it is listed, but not found by its key"))
    } catch {
      guard error.isOfData else { throw error }
      return .issue(IntegrityIssue(key: key, kind: .undecodable, message: error.message))
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

  static func unknownTransforms(_ key: CacheKey) -> IntegrityIssue {
    IntegrityIssue(
      key: key, kind: .undecodable,
      message: "its attribute '\(EntryMetadata.transformsName)' is not what a transform writes")
  }

  fileprivate static func mismatch(_ key: CacheKey) -> IntegrityIssue {
    IntegrityIssue(
      key: key, kind: .checksumMismatch, message: "the payload or the metadata is not what was written")
  }
}

extension IntegrityIssue.Kind {
  /// An entry is not sealed, and the cache serves only sealed ones.
  public static let notSealed = Self(rawValue: "notSealed")
  /// A sealed entry was changed after it was sealed, although its checksum is right.
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
