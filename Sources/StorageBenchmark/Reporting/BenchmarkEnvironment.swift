public import StorageSPI

/// What a benchmark ran on, and how: without it its figures mean nothing.
public struct BenchmarkEnvironment: Sendable, Hashable {
  /// An engine and the version of what it is made of.
  public struct Engine: Sendable, Hashable {
    /// The engine's name.
    public let name: String
    /// The version of the engine, or of the library under it.
    public let version: String
    /// Whether the engine was told the durability; one that was not has no such choice.
    public let hasDurability: Bool

    /// An engine with the given fields.
    public init(name: String, version: String, hasDurability: Bool) {
      (self.name, self.version, self.hasDurability) = (name, version, hasDurability)
    }
  }

  /// When it was.
  public var date: Timestamp
  /// The machine.
  public var machine: BenchmarkMachine
  /// The engines, in the order of their turns.
  public var engines: [Engine]
  /// What a commit survives.
  public var durability: Durability
  /// What all random choices depend on.
  public var seed: UInt64
  /// The number of threads of each process.
  public var threads: Int
  /// The number of processes.
  public var processes: Int
  /// How many rounds were measured.
  public var rounds: Int
  /// How many rounds were run before those.
  public var warmUpRounds: Int
  /// How many operations were to start each second; `nil` for as many as could.
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
