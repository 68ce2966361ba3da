public import StorageSPI

/// The machine and the settings of a benchmark: without them its figures mean nothing.
public struct BenchmarkEnvironment: Sendable, Hashable {
  /// An engine and its version.
  public struct Engine: Sendable, Hashable {
    /// The engine's name.
    public let name: String
    /// The version of the engine, or of the library under it.
    public let version: String
    /// Whether the engine has an option for durability.
    public let hasDurability: Bool

    /// An engine in a report.
    public init(name: String, version: String, hasDurability: Bool) {
      (self.name, self.version, self.hasDurability) = (name, version, hasDurability)
    }
  }

  /// When the benchmark ran.
  public var date: Timestamp
  /// The machine.
  public var machine: BenchmarkMachine
  /// The engines, in the order of their turns.
  public var engines: [Engine]
  /// What a commit must survive.
  public var durability: Durability
  /// The seed of all random choices.
  public var seed: UInt64
  /// The number of threads of each process.
  public var threads: Int
  /// The number of processes.
  public var processes: Int
  /// The number of measured rounds.
  public var rounds: Int
  /// The number of rounds before the measured ones.
  public var warmUpRounds: Int
  /// How many operations should start per second; `nil` for as many as possible.
  public var targetRate: Double?
  /// Further facts by name, such as the version of the program.
  public var facts: [String: String] = [:]

  /// The environment of a run.
  public init(
    _ options: BenchmarkOptions, _ subjects: [BenchmarkSubject], machine: BenchmarkMachine,
    facts: [String: String] = [:]
  ) {
    let engines = subjects.map { subject in
      let declaration = subject.plugin.declaration
      let hasDurability = declaration.options.contains { $0.name == EngineOption.durability.name }
      return Engine(name: declaration.name, version: declaration.version, hasDurability: hasDurability)
    }
    self.init(
      date: options.date, machine: machine, engines: engines, durability: options.durability, seed: options.seed,
      threads: options.threads, processes: options.share?.count ?? 1, rounds: options.rounds,
      warmUpRounds: options.warmUpRounds, targetRate: options.targetRate, facts: facts)
  }

  init(
    date: Timestamp, machine: BenchmarkMachine, engines: [Engine], durability: Durability, seed: UInt64, threads: Int,
    processes: Int, rounds: Int, warmUpRounds: Int, targetRate: Double?, facts: [String: String]
  ) {
    (self.date, self.machine, self.engines, self.durability) = (date, machine, engines, durability)
    (self.seed, self.threads, self.processes, self.rounds) = (seed, threads, processes, rounds)
    (self.warmUpRounds, self.targetRate, self.facts) = (warmUpRounds, targetRate, facts)
  }
}
