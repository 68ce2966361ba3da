import StorageSPI
import Testing

extension Defect: CustomTestStringConvertible {
  var testDescription: String { name }

  /// Every bug that the suite is known to find.
  static let all: [Defect] =
    [
      OpeningDefects.declarations, OpeningDefects.opening, OpeningDefects.moving, OpeningDefects.closing,
      ValueDefects.payloads,
      ValueDefects.metadata, ValueDefects.keys, BatchDefects.batches, BatchDefects.requirements, ScanDefects.scans,
      ScanDefects.expiry, ScanDefects.counted, BoundsDefects.bounds, BoundsDefects.batches, BoundsDefects.tallies,
      BoundsDefects.evictions, ChangeCountDefects.all,
    ]
    .flatMap { $0 }
}

extension WriteBatch {
  /// A batch that puts an empty entry under `key`.
  static func putting(_ key: String) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    let metadata = EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "")
    batch.put(try CacheKey(key), payload: [], metadata: metadata)
    return batch
  }
}
