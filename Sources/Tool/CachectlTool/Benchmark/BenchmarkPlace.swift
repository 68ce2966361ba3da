internal import Base
internal import FetchVocabulary
internal import StorageBenchmark

/// Where a benchmark runs: its folder, and its share in a run by several processes.
struct BenchmarkPlace: Sendable {
  /// Waits until every process of the run has reached the point with the given name.
  typealias Rendezvous = @Sendable (String) async throws(CacheError) -> Void

  /// The absolute path of the folder for the stores, which belongs to this run alone. Its creator removes it.
  var scratchFolder: String
  /// The prefix of store names on servers, unique to this run: lower-case letters, digits and hyphens, first a letter,
  /// at most 48.
  var runName: String
  /// The date of the run, since 1970-01-01T00:00:00Z.
  var date: Duration
  /// The number of this process, from 0, and the number of processes; `nil` if it is the only one.
  var share: (index: Int, count: Int)?
  /// How the processes wait for each other; `nil` if there is only one.
  var rendezvous: Rendezvous?

  /// A place for a run by this process alone.
  init(scratchFolder: String, runName: String, date: Duration) {
    (self.scratchFolder, self.runName, self.date) = (scratchFolder, runName, date)
  }
}

extension BenchmarkPlace {
  /// The place without the folder, as one process passes it to another: "0/4 1767225600000 bench-1f".
  var shareText: String {
    "\(share?.index ?? 0)/\(share?.count ?? 1) \(date.wholeMilliseconds) \(runName)"
  }

  /// The place described by `shareText`, in `scratchFolder`; `nil` if `shareText` is malformed.
  init?(shareText: String, scratchFolder: String) {
    let words = shareText.split(separator: " ")
    guard words.count == 3, let date = Int64(words[1]) else { return nil }
    let numbers = words[0].split(separator: "/").compactMap { Int($0) }
    guard numbers.count == 2, BenchmarkShare.countRange.contains(numbers[1]),
      (0..<numbers[1]).contains(numbers[0])
    else { return nil }
    self.init(scratchFolder: scratchFolder, runName: String(words[2]), date: .milliseconds(date))
    share = (numbers[0], numbers[1])
  }
}
