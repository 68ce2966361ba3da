internal import CacheBase
internal import CacheCore
internal import CacheData
internal import CacheDomain
internal import CachePresentation
internal import EngineAPI
internal import EngineBenchmark
internal import FetchVocabulary
internal import SampleOrigin
internal import Synchronization

/// A benchmark that is ready to run.
struct BenchmarkPlan: Sendable {
  /// The workloads of a benchmark that names none, with numbers of entries and operations unless it sets them. Each
  /// answers a different question; all built-in engines together take less than a minute.
  static let standardWorkloads = [
    ("fill", entries: 100, operations: 100), ("read", entries: 10_000, operations: 20_000),
    ("typed", entries: 1_000, operations: 5_000), ("ycsb-b", entries: 1_000, operations: 2_000),
    ("scan", entries: 1_000, operations: 500),
  ]

  /// How to run the workloads, and where.
  var options: BenchmarkOptions
  /// The eviction policy of a store that is full.
  var policy: EvictionPolicy
  /// The engines, in the order of their turns.
  let subjects: [BenchmarkSubject]
  private let workloads: [Workload]

  /// A benchmark of the engines called `backends`; without names, of all built-in engines whose stores are not on a server.
  ///
  /// - Parameter workloads: the workloads, in order; empty for a selection that takes about a minute.
  /// - Throws: `CacheError` with the code `unknownBackend`.
  init(
    _ container: AppDIContainer, backends: [String], workloads: [Workload], options: BenchmarkOptions
  ) throws(CacheError) {
    self.workloads = workloads.isEmpty ? Self.selection() : workloads
    self.options = options
    policy = container.configuration.cache.limits.eviction
    self.options.date = Timestamp(milliseconds: container.now.wholeMilliseconds)
    var subjects: [BenchmarkSubject] = []
    let local = container.catalogue.builtIn.filter { !$0.isOnServer }.map(\.name)
    for name in backends.isEmpty ? local : backends
    where !subjects.contains(where: { $0.name == name }) {
      let plugin = try container.catalogue.plugin(named: name)
      subjects.append(BenchmarkSubject(plugin: plugin, values: try container.configuration.options(of: name)))
    }
    self.subjects = subjects
  }

  private static func selection() -> [Workload] {
    var workloads: [Workload] = []
    for (name, entries, operations) in standardWorkloads {
      guard var workload = WorkloadCatalogue.workload(named: name) else { continue }
      workload.entries = entries
      workload.operations = operations
      workloads.append(workload)
    }
    return workloads
  }

  /// Runs the benchmark in this process. Cancelling the task ends it early, with the measurements made so far.
  ///
  /// - Parameter begin: called before each phase, which begins when it returns.
  /// - Throws: `CacheError`: `invalidOption` if an engine rejects its configuration, `failed` if threads cannot be
  ///   started. The report contains the failures of single engines.
  func run(
    _ begin: @escaping @Sendable (BenchmarkProgress) async throws(CacheError) -> Void
  ) async throws(CacheError) -> BenchmarkReport {
    let isTyped = workloads.contains { $0.payload == .typed }
    let typed = try await isTyped ? MoviePages.payload() : nil
    let date = options.date
    let actions = BenchmarkActions(
      typed: typed,
      openCache: { [policy] store in
        let cache = FullCache(store, now: date, policy)
        return { number, isStored throws(CacheError) in try await cache.read(number, isStored: isStored) }
      })
    return try await BenchmarkRunner(
      subjects: subjects, workloads: workloads, options: options, actions: actions, facts: facts, begin: begin
    ).run()
  }

  /// Runs the benchmark, in this process or in several, with its progress on the terminal, and always removes the
  /// stores.
  func runInScratchFolder(_ global: GlobalOptions) async throws(CacheError) -> BenchmarkReport {
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    var plan = self
    plan.options.scratchFolder = scratch.path
    // A name that no other run has.
    plan.options.runName = "bench-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    if let warning = plan.serverWarning { global.remark(warning) }
    let display = Mutex(ProgressDisplay("Measuring", isVisible: global.showsProgress))
    defer { display.withLock { $0.finish() } }
    let show: @Sendable (BenchmarkProgress) -> Void = { now in
      display.withLock { $0.update(done: now.phase, total: now.total, item: now.item) }
    }
    if options.processes > 1 { return try SharedBenchmark(plan.options).run(show) }
    return try await plan.run(show)
  }

  /// The engines that keep nothing: they only show the cost of measuring.
  var controls: [String] {
    subjects.filter { !$0.plugin.declaration.capabilities.contains(.persistent) }.map(\.name)
  }

  /// Whether a store gets full: only then the policy counts.
  var isBounded: Bool { workloads.contains { $0.payload == .bounded } }

  private var facts: [JSONValue.Member] {
    #if DEBUG
      let build = "debug"
    #else
      let build = "release"
    #endif
    let isNamed = isBounded && policy != .lru
    return [
      .init("program", .string("cachectl \(Cachectl.version)")), .init("build", .string(build)),
      .init("policy", JSONValue(isNamed ? policy.name : nil)),
    ]
  }

  /// Says which engines are measured on the configured servers instead of in the scratch folder; `nil` if none.
  var serverWarning: StatusLine? {
    let servers = subjects.filter { $0.plugin.declaration.isOnServer }.map(\.name)
    guard !servers.isEmpty else { return nil }
    return StatusLine(
      [
        "measures \(servers.joined(separator: " and ")) on the server of the configuration",
        "its stores there begin with \(options.runName), and are removed at the end; after a kill the server drops them "
          + "within a day",
      ], style: .yellow)
  }
}

/// Pages of 20 movies each from the bundled sample, for the workload that decodes what it reads.
enum MoviePages {
  /// The number of different pages: a prime, so that no regular choice of entries always meets the same pages.
  static let count = 61

  /// The pages of a search with enough results. A read decodes the page as a cache hit does, and compares all of it.
  static func payload() async throws(CacheError) -> TypedPayload {
    let origin = SampleMovieOrigin()
    let codec = PayloadCodec<MoviesPageDTO>.json
    let key = try CacheKey("\(MoviesRequestDTO.resource)/page")
    var pages: [MoviesPageDTO] = []
    var payloads: [[UInt8]] = []
    for page in 1...count {
      guard let query = MovieQuery("the") else { break }
      let request = MoviesRequestDTO(origin: origin.name, query: query, page: page)
      guard let response = try await origin.answer(to: request, conditions: [:]).response else { continue }
      pages.append(response)
      payloads.append(try codec.encode(response).payload)
    }
    return TypedPayload(
      encode: { [payloads] number throws(CacheError) in payloads[number % payloads.count] },
      isRight: { [pages] number, bytes throws(CacheError) in
        try codec.decode(bytes, key, "application/json") == pages[number % pages.count]
      })
  }
}

/// Reads entries through a cache that is full, and stores the missing ones.
struct FullCache: Sendable {
  private let target: BenchmarkStore
  private let store: EntryStore
  private let clock: OperationClock

  /// A cache over `target`, from which `policy` evicts. No entry expires during the run, which begins at `now`.
  init(_ target: BenchmarkStore, now: Timestamp, _ policy: EvictionPolicy) {
    self.target = target
    clock = OperationClock(now)
    let limits = StoreLimits(maxEntries: target.maximumEntries, eviction: policy)
    store = EntryStore(engine: target.engine, clock: clock, limits: limits, capabilities: target.capabilities)
  }

  func read(_ number: Int, isStored: Bool) async throws(CacheError) -> BenchmarkAnswer {
    let key = try target.key(number)
    let bytes = target.bytes
    clock.tick()
    if isStored {
      let found = try await store.read(key) { payload, _ throws(CacheError) in try bytes.isRight(number, payload) }
      store.countLookUp(found == nil ? nil : key)
      if let found { return found.value ? .hit : .wrong }
    }
    let now = clock.now
    // Longer than a run takes, and short enough for a server to drop the leftovers of a killed run.
    let later = now.advanced(by: .seconds(86_400))
    try await store.write(
      key, payload: try bytes.encode(number),
      metadata: EntryMetadata(storedAt: now, freshUntil: later, retainUntil: later, contentType: "text/plain"))
    return .miss
  }
}

/// A clock that advances by a millisecond with each operation: the order of uses does not depend on the speed of the
/// engine.
final class OperationClock: WallClock {
  private let milliseconds: Atomic<Int64>

  init(_ start: Timestamp) { milliseconds = Atomic(start.milliseconds) }

  var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }

  func tick() { milliseconds.add(1, ordering: .relaxed) }
}
