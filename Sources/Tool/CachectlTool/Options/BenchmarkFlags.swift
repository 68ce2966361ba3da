internal import CommandLineKit
internal import CacheCore
internal import EngineBenchmark
internal import EngineAPI

/// The options of `bench` that say how to run it.
struct BenchmarkFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Store N entries; several counts are run one after the other", valueName: "n,n,..."))
  var entries: CountList?

  @Option(help: ArgumentHelp("Do N operations a round", valueName: "n"))
  var operations: Count?

  @Option(help: ArgumentHelp("Store values of BYTES, such as 1000 or 4KiB", valueName: "bytes"))
  var valueSize: ByteCount?

  @Option(help: ArgumentHelp("Use N threads", valueName: "n"))
  var threads = 1

  @Option(help: ArgumentHelp("Use N processes on one store", valueName: "n"))
  var processes = 1

  @Option(help: ArgumentHelp("Measure N rounds, after one that is not measured", valueName: "n"))
  var rounds = 5

  @Option(help: ArgumentHelp("Repeat the random choices of seed N", valueName: "n"))
  var seed: UInt64 = 42

  @Option(
    help: ArgumentHelp("Start N operations a second; latency then counts from the intended start", valueName: "n"))
  var rate: Double?

  @Option(
    help: ArgumentHelp(
      "Evict by the policy NAME in the workload full (default: that of the configuration)", valueName: "name"),
    completion: .list(EvictionPolicy.standard.map { $0.name }))
  var policy: String?

  @Option(help: "What a commit survives, on every engine")
  var durability = Durability.normal

  func validate() throws(ValidationError) {
    try require("--entries", entries?.numbers ?? [], Workload.entriesRange)
    try require("--operations", [operations?.number].compactMap(\.self), Workload.operationsRange)
    try require("--value-size", [valueSize?.number].compactMap(\.self), Workload.valueSizeRange)
    try require("--threads", [threads], BenchmarkOptions.threadsRange)
    try require("--processes", [processes], BenchmarkShare.countRange)
    try require("--rounds", [rounds], BenchmarkOptions.roundsRange)
    if let rate, !BenchmarkOptions.targetRateRange.contains(rate) {
      throw ValidationError("--rate must be positive, and 1000000000 at most")
    }
  }

  private func require(
    _ name: String, _ numbers: [Int], _ range: ClosedRange<Int>
  ) throws(ValidationError) {
    guard let wrong = numbers.first(where: { !range.contains($0) }) else { return }
    throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound), and not \(wrong)")
  }

  /// How to run any workload, without a place.
  var settings: BenchmarkOptions {
    var settings = BenchmarkOptions()
    (settings.entries, settings.operations) = (entries?.numbers ?? [], operations?.number)
    settings.valueSize = valueSize?.number
    (settings.threads, settings.rounds, settings.seed) = (threads, rounds, seed)
    (settings.targetRate, settings.durability) = (rate, durability)
    return settings
  }
}

extension Durability: ExpressibleByArgument {}
