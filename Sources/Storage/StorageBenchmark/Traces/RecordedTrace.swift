internal import Base
public import StorageSPI

/// Makes a trace of what a cache knows of its entries: how often each was used. Which use followed which is not known,
/// so the look-ups are in random order (the independent reference model): a scan or a loop does not show.
public struct RecordedTrace: Sendable {
  /// The most look-ups of a trace; if there were more, each entry has proportionally fewer.
  private static let maximumLookUps = 2_000_000

  private var entries: [(size: Int, uses: Int)] = []

  /// A record without entries.
  public init() {}

  /// Adds an entry whose value has `size` bytes. Storing it counts as one more use than the `uses` that followed.
  public mutating func add(_ size: Int, uses: Int) { entries.append((size, max(0, uses) + 1)) }

  /// The trace. The same seed always gives the same one.
  ///
  /// - Throws: `CacheError` with the code `notFound` if there are no entries.
  public func trace(seed: UInt64 = 1) throws(CacheError) -> Trace {
    guard !entries.isEmpty else {
      throw CacheError(.notFound, "the store has no entries whose uses could be replayed", hint: "name a trace")
    }
    let total = entries.reduce(0) { $0 + $1.uses }
    let divisor = max(1, (total + Self.maximumLookUps - 1) / Self.maximumLookUps)
    var lookUps: [Int] = []
    for (index, entry) in entries.enumerated() {
      lookUps += Array(repeating: index, count: max(1, entry.uses / divisor))
    }
    var random = SeededGenerator(seed: seed)
    lookUps.shuffle(using: &random)
    var (trace, numbers) = (Trace(), [Int?](repeating: nil, count: entries.count))
    for index in lookUps {
      let number = numbers[index] ?? trace.keyCount
      numbers[index] = number
      trace.append(number, size: entries[index].size)
    }
    return trace
  }
}
