public import EngineAPI
public import FetchVocabulary

#if canImport(FoundationEssentials)
  public import struct FoundationEssentials.Date
#else
  public import struct Foundation.Date
#endif

// Points in time as programs have them. The tool does without Foundation, so the types themselves have durations.

extension EntryFacts {
  /// When the entry was stored or last confirmed.
  public var storedAt: Date { Date(timeIntervalSince1970: storedSinceEpoch / .seconds(1)) }

  /// Until when the entry is fresh.
  public var freshUntil: Date { Date(timeIntervalSince1970: freshUntilSinceEpoch / .seconds(1)) }
}

extension Timestamp {
  /// The millisecond closest to `date`, clamped to the range.
  public init(_ date: Date) {
    self.init(milliseconds: Int64(max(0, min(1e15, date.timeIntervalSince1970 * 1_000)).rounded()))
  }

  /// The same point in time.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
