internal import Base
internal import Platform
public import StorageSPI

/// The machine and the settings of a benchmark: without them its figures mean nothing.
public struct BenchmarkEnvironment: Sendable, Hashable {
  /// An engine and its version.
  public struct Engine: Sendable, Hashable {
    /// The engine's name.
    public internal(set) var name: String
    /// The version of the engine, or of the library under it.
    public internal(set) var version: String
    /// Whether the engine has an option for durability.
    public internal(set) var hasDurability: Bool
  }

  /// When the benchmark ran.
  public var date = Timestamp(milliseconds: 0)
  /// The machine.
  public var machine = BenchmarkMachine()
  /// The engines, in the order of their turns.
  public var engines: [Engine] = []
  /// What a commit must survive.
  public var durability = Durability.normal
  /// The seed of all random choices.
  public var seed: UInt64 = 0
  /// The number of threads of each process.
  public var threads = 0
  /// The number of processes.
  public var processes = 0
  /// The number of measured rounds.
  public var rounds = 0
  /// The number of rounds before the measured ones.
  public var warmUpRounds = 0
  /// How many operations should start per second; `nil` for as many as possible.
  public var targetRate: Double?
  /// Further facts by name, such as the version of the program.
  public var facts: [String: String] = [:]
}

extension BenchmarkEnvironment {
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
}

/// The machine that ran a benchmark. Unknown facts are empty or 0.
public struct BenchmarkMachine: Sendable, Hashable {
  /// The model of the processor.
  public var processor = ""
  /// The number of processors that the process may use.
  public var processors = 0
  /// The size of the memory, in bytes.
  public var memoryBytes = 0
  /// The kernel's name, its release and its processor type.
  public var kernel = ""
  /// The type of the stores' file system, such as "ext4".
  public var fileSystem = ""

  /// An unknown machine.
  public init() {}

  /// This machine, with stores in the folder at the absolute path `folder`.
  public static func current(folder: String) -> BenchmarkMachine {
    var machine = BenchmarkMachine()
    machine.processor = value(of: "model name", in: SystemFile.lines("/proc/cpuinfo"))
    machine.processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    machine.memoryBytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    machine.kernel = kernelName()
    machine.fileSystem = fileSystem(of: folder, SystemFile.lines("/proc/self/mounts"))
    return machine
  }

  /// The text after the colon in the first of `lines` that begins with `name`.
  static func value(of name: String, in lines: [Substring]) -> String {
    guard let line = lines.first(where: { $0.hasPrefix(name) }), let colon = line.firstIndex(of: ":") else { return "" }
    return String(line[line.index(after: colon)...].drop { $0 == " " })
  }

  /// The type of the file system with the longest mount path that leads to `folder`; of several on one path, the last.
  /// A line of `mounts` is "device path type ...".
  static func fileSystem(of folder: String, _ mounts: [Substring]) -> String {
    var best = (path: Substring(), type: Substring())
    for line in mounts {
      let fields = line.split(separator: " ")
      guard fields.count > 2, leads(fields[1], to: folder), fields[1].count >= best.path.count else { continue }
      best = (fields[1], fields[2])
    }
    return String(best.type)
  }

  private static func leads(_ path: Substring, to folder: String) -> Bool {
    path == "/" || folder == path || folder.hasPrefix(path + "/")
  }

  private static func kernelName() -> String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return [text(name.sysname), text(name.release), text(name.machine)].joined(separator: " ")
  }

  /// The text in a field of `utsname`, an array that ends with a zero byte.
  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
