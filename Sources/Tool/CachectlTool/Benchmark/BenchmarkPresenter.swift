internal import CacheComposition
internal import CacheDomain
internal import ResponseStorage
internal import StorageBenchmark
internal import StorageSPI

/// Benchmarks engines against each other.
struct BenchmarkPresenter: Sendable {
  /// The workloads of a benchmark that names none, with numbers of entries and operations unless it sets them. Each
  /// answers a different question; all built-in engines together take less than a minute.
  static let standardWorkloads = [
    ("fill", entries: 100, operations: 100), ("read", entries: 10_000, operations: 20_000),
    ("typed", entries: 1_000, operations: 5_000), ("typed-repeated", entries: 500, operations: 20_000),
    ("ycsb-b", entries: 1_000, operations: 2_000), ("articles", entries: 100, operations: 2_000),
  ]

  private let container: AppDIContainer

  init(container: AppDIContainer) { self.container = container }

  /// The names of the built-in workloads.
  static var workloadNames: [String] { WorkloadCatalogue.names }

  /// The built-in workload whose name is closest to `name`.
  static func nearestWorkload(to name: String) -> String? { WorkloadCatalogue.nearestName(to: name) }

  /// Resolves everything that `settings` name, so that a run cannot fail later for a reason known before it.
  ///
  /// - Throws: `CacheError`: `unknownBackend`; `malformed` for a file with a mistake, with its place in the message.
  func plan(_ settings: BenchmarkSettings) throws(CacheError) -> BenchmarkPlan {
    var workloads: [Workload] = []
    for source in settings.workloads { workloads.append(try workload(source)) }
    if workloads.isEmpty { workloads = try standardWorkloads() }
    var saved: BenchmarkReport?
    if let (file, bytes) = settings.saved { saved = try Self.report(bytes, file) }
    return BenchmarkPlan(
      settings: settings, subjects: try subjects(settings), workloads: workloads, saved: saved, date: container.now)
  }

  private func standardWorkloads() throws(CacheError) -> [Workload] {
    var workloads: [Workload] = []
    for (name, entries, operations) in Self.standardWorkloads {
      var workload = try workload(.builtIn(name))
      (workload.entries, workload.operations) = (entries, operations)
      workloads.append(workload)
    }
    return workloads
  }

  private func subjects(_ settings: BenchmarkSettings) throws(CacheError) -> [BenchmarkSubject] {
    let names = settings.backends.isEmpty ? BackendsPresenter.builtInNames : settings.backends
    var subjects: [BenchmarkSubject] = []
    for name in names where !subjects.contains(where: { $0.name == name }) {
      let plugin = try container.catalogue.plugin(named: name)
      subjects.append(BenchmarkSubject(plugin: plugin, values: container.configuration.options(of: name)))
    }
    return subjects
  }

  private func workload(_ source: BenchmarkSettings.Source) throws(CacheError) -> Workload {
    var found: Workload?
    do throws(CacheError) {
      switch source {
      case .file(let name, let bytes): found = try WorkloadReader.read(bytes, file: name)
      case .builtIn(let name): found = try WorkloadCatalogue.workload(named: name)
      }
    } catch { throw CacheError(error) }
    if let found { return found }
    throw CacheError(
      .invalidRequest, "there is no such workload",
      hint: "use one of: \(WorkloadCatalogue.names.joined(separator: ", "))")
  }

  static func report(_ bytes: [UInt8], _ file: String) throws(CacheError) -> BenchmarkReport {
    do { return try BenchmarkReport(json: bytes, file: file) } catch { throw CacheError(error) }
  }
}

extension AppDIContainer {
  /// The presenter that benchmarks the engines.
  func makeBenchmarkPresenter() -> BenchmarkPresenter { BenchmarkPresenter(container: self) }
}
