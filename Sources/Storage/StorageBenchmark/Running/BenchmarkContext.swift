/// What all rounds of a run share.
struct BenchmarkContext: Sendable {
  let options: BenchmarkOptions
  let actions: BenchmarkActions
  let probe: BenchmarkProbe
  let threads: [WorkerThread]
}
