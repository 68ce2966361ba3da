import EngineAPI
import Testing

extension Defect: CustomTestStringConvertible {
  var testDescription: String { name }

  /// Every bug that the suite is known to find.
  static let all: [Defect] =
    [
      OpeningDefects.declarations, OpeningDefects.opening, OpeningDefects.moving, OpeningDefects.closing,
      ValueDefects.payloads, ValueDefects.metadata, ValueDefects.keys, BatchDefects.batches, BatchDefects.updates,
      BatchDefects.requirements, ScanDefects.scans, CountDefects.expiry, CountDefects.counts, CountDefects.changeCounts,
      BoundsDefects.bounds, BoundsDefects.batches,
    ]
    .flatMap { $0 }
}
