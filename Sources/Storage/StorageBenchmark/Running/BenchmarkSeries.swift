internal import StorageSPI

/// All rounds of one workload with one number of entries, over all engines.
struct BenchmarkSeries {
  /// The results of one engine so far.
  private struct Record {
    /// The cost of each phase in each round.
    var measurements: [[PhaseMeasurement]]
    /// Why no more rounds follow; `nil` if they do.
    var end: BenchmarkResult.Outcome?
  }

  private let context: BenchmarkContext
  private let workload: Workload
  private let subjects: [BenchmarkSubject]
  private let firstStore: Int
  private var records: [Record]

  init(_ context: BenchmarkContext, _ workload: Workload, _ subjects: [BenchmarkSubject], firstStore: Int) {
    (self.context, self.workload, self.subjects, self.firstStore) = (context, workload, subjects, firstStore)
    records = subjects.map { subject in
      let reason = subject.reasonToSkip(workload, context.options, context.actions)
      return Record(
        measurements: workload.phases.map { _ in [] }, end: reason.map(BenchmarkResult.Outcome.skipped))
    }
  }

  /// Adds the phases to run to `tracker`.
  func plan(_ tracker: inout ProgressTracker) {
    for index in subjects.indices where records[index].end == nil {
      for phase in workload.phases { tracker.plan(step(index, phase), times: roundCount) }
    }
  }

  /// Runs all rounds, and returns whether they reached the end.
  mutating func run(
    _ tracker: inout ProgressTracker, _ progress: (BenchmarkProgress) -> Void
  ) async throws(CacheError) -> Bool {
    let keys = try KeySpace(length: workload.keyLength, share: context.options.share, count: workload.capacity)
    for round in 0..<roundCount {
      for index in subjects.indices where records[index].end == nil {
        guard await run(round, index, keys, &tracker, progress) else { return false }
      }
    }
    return true
  }

  /// The results of the phases to report.
  var results: [BenchmarkResult] {
    workload.phases.indices.filter { workload.phases[$0].isMeasured }.flatMap { phase in
      subjects.indices.compactMap { result(subject: $0, phase: phase) }
    }
  }

  private var roundCount: Int { context.options.warmUpRounds + context.options.rounds }

  /// Runs one round over one engine, and returns whether to continue the run.
  private mutating func run(
    _ round: Int, _ index: Int, _ keys: KeySpace, _ tracker: inout ProgressTracker,
    _ progress: (BenchmarkProgress) -> Void
  ) async -> Bool {
    do throws(BenchmarkFailure) {
      let measurements = try await measure(round, index, keys, &tracker, progress)
      guard round >= context.options.warmUpRounds else { return true }
      for phase in workload.phases.indices { records[index].measurements[phase].append(measurements[phase]) }
      return true
    } catch {
      records[index].end = end(error)
      tracker.abandon(backend: index, workload: workload.name, entries: workload.entries)
      return !Task.isCancelled
    }
  }

  /// The outcome to report for a failure; `nil` if it is a consequence of being cancelled.
  private func end(_ failure: BenchmarkFailure) -> BenchmarkResult.Outcome? {
    switch failure {
    case .wrong(let answer): .wrong(answer.message)
    case .engine where Task.isCancelled, .cancelled where Task.isCancelled: nil
    case .engine(let error): .failed(error.description)
    case .cancelled: .failed("the engine says that a call was cancelled, which it was not")
    }
  }

  private func measure(
    _ number: Int, _ index: Int, _ keys: KeySpace, _ tracker: inout ProgressTracker,
    _ progress: (BenchmarkProgress) -> Void
  ) async throws(BenchmarkFailure) -> [PhaseMeasurement] {
    var round: BenchmarkRound
    do {
      let store = firstStore + (number * subjects.count + index) * workload.phases.count
      round = try BenchmarkRound(context, workload, subjects[index], keys, number: number, storeNumber: store)
    } catch { throw BenchmarkFailure(error) }
    var measurements: [PhaseMeasurement] = []
    do throws(BenchmarkFailure) {
      for phase in workload.phases.indices {
        progress(describe(number, index, workload.phases[phase], tracker))
        let start = context.probe.now()
        measurements.append(try await round.run(phase))
        let seconds = Double(context.probe.now() - start) / 1e9
        tracker.finish(step(index, workload.phases[phase]), seconds: seconds)
      }
    } catch {
      try? await round.end()
      throw error
    }
    do { try await round.end() } catch { throw BenchmarkFailure(error) }
    return measurements
  }

  private func step(_ index: Int, _ phase: WorkloadPhase) -> ProgressTracker.Step {
    ProgressTracker.Step(backend: index, workload: workload.name, phase: phase.name, entries: workload.entries)
  }

  private func describe(
    _ round: Int, _ index: Int, _ phase: WorkloadPhase, _ tracker: ProgressTracker
  ) -> BenchmarkProgress {
    BenchmarkProgress(
      backend: subjects[index].name, workload: workload.name, phase: phase.name, entries: workload.entries,
      round: round - context.options.warmUpRounds + 1, rounds: context.options.rounds, completed: tracker.completed,
      total: tracker.total, secondsLeft: tracker.secondsLeft)
  }

  /// The result of a phase over an engine; `nil` if the run ended before its first round.
  private func result(subject: Int, phase: Int) -> BenchmarkResult? {
    let row = BenchmarkResult.Row(
      backend: subjects[subject].name, workload: workload.name, phase: workload.phases[phase].name,
      entries: workload.entries)
    if let end = records[subject].end { return BenchmarkResult(row: row, outcome: end) }
    let measurements = records[subject].measurements[phase]
    guard !measurements.isEmpty else { return nil }
    return BenchmarkResult(row: row, outcome: .measured(BenchmarkMeasurement(measurements)))
  }
}

extension BenchmarkMeasurement {
  fileprivate init(_ measurements: [PhaseMeasurement]) {
    var histogram = LatencyHistogram()
    for measurement in measurements { histogram.merge(measurement.histogram) }
    self.init(
      rounds: measurements.map { one in
        Round(
          operations: one.operations, seconds: one.seconds, processorSeconds: one.processorSeconds,
          peakMemoryBytes: one.peakMemoryBytes, storageBytes: one.storageBytes,
          referenceSeconds: one.referenceSeconds)
      }, latency: LatencySummary(histogram), histogram: histogram)
  }
}

extension BenchmarkProgress {
  /// The progress at the end of a run.
  init(end tracker: ProgressTracker, rounds: Int) {
    self.init(
      backend: "", workload: "", phase: "", entries: 0, round: rounds, rounds: rounds, completed: tracker.completed,
      total: tracker.total, secondsLeft: 0)
  }
}
