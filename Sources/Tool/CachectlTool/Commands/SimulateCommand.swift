internal import CachePresentation
internal import CommandLineKit
internal import FetchVocabulary
internal import CacheCore
internal import CacheBase
internal import EngineBenchmark
internal import EngineAPI

/// `simulate`.
struct SimulateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Show how often caches of several sizes and policies would answer",
    discussion: """
      A trace is replayed through a cache in memory, once for each policy and size. Without TRACE it is this cache's \
      own record: its entries, looked up in random order as often as they were used.

      Traces are generated: zipfian-0.7, zipfian-0.9, zipfian-1.1, scan, loop, working-set.

      A size is a share of all values of the trace, or a number of bytes.

      Examples:
        cachectl simulate
        cachectl simulate --sizes 1%,5%,64MiB
        cachectl simulate zipfian-0.9 --policies lru,s3-fifo
      """)

  @Argument(
    help: "The name of a generated trace (default: this cache's own record)",
    completion: .list(GeneratedTrace.allCases.map(\.rawValue)))
  var trace: String?

  @Option(help: ArgumentHelp("The sizes of the cache (default: 1%,2%,5%,10%,20%,50%,90%)", valueName: "size,..."))
  var sizes: CacheSizeList?

  @Option(
    help: ArgumentHelp("The policies (default: all)", valueName: "a,b,..."),
    completion: .list(EvictionPolicy.standard.map { $0.name }))
  var policies: NameList?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let policies = try selectedPolicies()
    let session = try Session(global)
    let (name, trace) = try await loadedTrace(session)
    let simulation = try TraceSimulation(trace, plugin: session.container.catalogue.plugin(named: "memory"))
    let sizes = (sizes ?? CacheSizeList(argument: CacheSizeList.standard))?.sizes ?? []
    let progress = ProgressDisplay("Simulating", isVisible: global.showsProgress)
    defer { progress.finish() }
    var results: [TraceSimulation.Result] = []
    for size in sizes {
      for policy in policies {
        progress.update(done: results.count, total: sizes.count * policies.count)
        results.append(try await simulation.run(policy, size))
      }
    }
    progress.finish()
    try global.show(
      SimulationView(
        name: name, lookUps: trace.lookUps.count, keys: trace.keyCount, footprint: trace.footprint,
        bytes: trace.lookUps.reduce(0) { $0 + trace.sizes[Int($1)] }, results: results))
  }

  private func selectedPolicies() throws(ValidationError) -> [EvictionPolicy] {
    guard let names = policies?.names else { return Cachectl.current.policies }
    var selected: [EvictionPolicy] = []
    for name in names {
      let policy = try Cachectl.current.policy(named: name, "--policies")
      if !selected.contains(policy) { selected.append(policy) }
    }
    return selected
  }

  private func loadedTrace(_ session: Session) async throws -> (name: String, trace: Trace) {
    guard let trace else { return ("the record of \(session.configuration.backend)", try await recordedTrace(session)) }
    if let generated = GeneratedTrace(rawValue: trace) { return (trace, generated.trace()) }
    let names = GeneratedTrace.allCases.map(\.rawValue).joined(separator: ", ")
    throw ValidationError("there is no trace '\(trace)': give one of \(names)")
  }

  private func recordedTrace(_ session: Session) async throws -> Trace {
    let record = try await session.withStore { store throws(CacheError) -> RecordedTrace in
      var record = RecordedTrace()
      let all = EntrySelection()
      _ = try await store.administration.list(all, after: nil, limit: .max) {
        page, _ throws(CacheError) in
        let histories = try store.entries.uses.histories(of: page.map(\.key))
        for (entry, history) in zip(page, histories) { record.add(entry.payloadBytes, uses: Int(history.count)) }
      }
      return record
    }
    return try record.trace()
  }
}

extension Cachectl {
  /// The eviction policy with the short or long name `name`, which the option `flag` gives.
  func policy(named name: String, _ flag: String) throws(ValidationError) -> EvictionPolicy {
    let wanted = Spelling.shortName(for: name) ?? name
    if let policy = policies.first(where: { $0.name == wanted }) { return policy }
    let names = policies.map(\.name)
    let nearest = Spelling.nearest(to: name, among: names).map { "; the nearest is \($0)" } ?? ""
    throw ValidationError(
      "\(flag): there is no policy '\(name)': give one of \(names.joined(separator: ", "))\(nearest)")
  }
}
