internal import StorageSPI

/// The cost of one phase in one round.
struct PhaseMeasurement: Sendable {
  var operations = 0
  var seconds = 0.0
  var histogram = LatencyHistogram()
  var processorSeconds = 0.0
  var peakMemoryBytes: Int?
  var storageBytes = 0
  var referenceSeconds: Double?
}

/// Runs a phase with all its workers, each on its own thread.
struct PhaseRunner {
  private let job: PhaseJob
  private let context: BenchmarkContext
  private let resident: Int?
  private let operations: Int

  /// - Parameters:
  ///   - resident: the resident memory of the process before the store was opened, in bytes.
  ///   - operations: the number of operations of all workers together.
  init(_ job: PhaseJob, _ context: BenchmarkContext, resident: Int?, operations: Int) {
    (self.job, self.context, self.resident, self.operations) = (job, context, resident, operations)
  }

  /// Runs the phase, with random numbers that depend on `seed`.
  ///
  /// - Throws: the first failure, after all other workers have ended.
  func run(seed: UInt64) async throws(BenchmarkFailure) -> PhaseMeasurement {
    let probe = context.probe
    let canTellPeak = probe.resetPeakMemory()
    let processor = probe.processorNanoseconds()
    let workers = try await runWorkers(seed)
    var measurement = PhaseMeasurement()
    measurement.processorSeconds = Double(probe.processorNanoseconds() - processor) / 1e9
    if canTellPeak, let resident, let peak = probe.peakMemoryBytes() {
      measurement.peakMemoryBytes = max(0, peak - resident)
    }
    let begin = workers.map(\.began).min() ?? 0
    let end = workers.map(\.ended).max() ?? begin
    measurement.seconds = Double(end - begin) / 1e9
    for worker in workers {
      measurement.operations += worker.operations
      measurement.histogram.merge(worker.histogram)
    }
    return measurement
  }

  private func runWorkers(_ seed: UInt64) async throws(BenchmarkFailure) -> [Worker] {
    let job = job
    let results = await withTaskGroup(of: Result<Worker, BenchmarkFailure>.self) { group in
      for (index, count) in counts.enumerated() {
        group.addTask(executorPreference: context.threads[index]) {
          await Self.run(job, index: index, seed: seed, count)
        }
      }
      var results: [Result<Worker, BenchmarkFailure>] = []
      for await result in group {
        if case .failure = result { group.cancelAll() }
        results.append(result)
      }
      return results
    }
    return try Self.workers(results)
  }

  /// The number of operations of each worker.
  private var counts: [Int] {
    (0..<job.workers).map { operations / job.workers + ($0 < operations % job.workers ? 1 : 0) }
  }

  private static func run(
    _ job: PhaseJob, index: Int, seed: UInt64, _ count: Int
  ) async -> Result<Worker, BenchmarkFailure> {
    var worker = Worker(job, index: index, seed: seed)
    do throws(BenchmarkFailure) { try await worker.run(count) } catch { return .failure(error) }
    return .success(worker)
  }

  /// All workers, or the failure of one that failed by itself and was not merely told to stop.
  private static func workers(_ results: [Result<Worker, BenchmarkFailure>]) throws(BenchmarkFailure) -> [Worker] {
    var failure: BenchmarkFailure?
    var workers: [Worker] = []
    for result in results {
      switch (result, failure) {
      case (.success(let worker), _): workers.append(worker)
      case (.failure(let error), nil), (.failure(let error), .cancelled?): failure = error
      case (.failure, _): break
      }
    }
    if let failure { throw failure }
    return workers
  }
}
