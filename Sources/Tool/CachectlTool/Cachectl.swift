internal import Synchronization

/// The program `cachectl`: an engine, a resource and a command is each one line in a list.
///
/// A program with its own resource is this one with a longer list:
///
///     import CachectlTool
///     import Tides
///
///     Cachectl(resources: .standard + [.tides]).run()
public struct Cachectl: Sendable {
  static let version = "0.2.0"

  /// The engines that can be chosen by name; the first is the default.
  let catalogue: PluginCatalogue
  /// The payload transforms that the configuration can name.
  let transforms: [any TransformSettings.Type]
  /// The engine layers that the configuration can name.
  let layers: [any LayerSettings.Type]
  /// The resources of `fetch` and `explain`.
  let resources: [ToolResource]
  /// The eviction policies that `cache.eviction` can name; the first is the default.
  let policies: [EvictionPolicy]
  /// The commands, in the order of help.
  let commands: [CommandGroup]

  /// The program with `engines`, `transforms`, `layers`, `resources`, `policies` and `commands`.
  public init(
    engines: PluginCatalogue = .standard, transforms: [any TransformSettings.Type] = .standard,
    layers: [any LayerSettings.Type] = .standard, resources: [ToolResource] = .standard,
    policies: [EvictionPolicy] = .standard,
    commands: [CommandGroup] = .standard
  ) {
    catalogue = engines
    self.transforms = transforms
    self.layers = layers
    self.resources = resources
    self.policies = policies
    self.commands = commands
  }

  /// Runs the command that the process's arguments name, and exits with its status. Call it first in `main.swift`, on
  /// the main thread, once.
  public func run() -> Never {
    Self.running.withLock { $0 = self }
    Console.keepClosedStreams()
    Interruption.run { await Self.run(arguments: Array(CommandLine.arguments.dropFirst())) }
  }

  /// The program of this process: commands are types, and find their lists here.
  static var current: Cachectl { running.withLock(\.self) ?? Cachectl() }

  private static let running = Mutex<Cachectl?>(nil)

  /// The configuration sections of the transforms, the layers and the resources, each once.
  var sections: [any ConfigurationSection.Type] {
    var seen: Set<ObjectIdentifier> = []
    var sections: [any ConfigurationSection.Type] = []
    // One by one: to convert the whole array would look up conformances at run time.
    for transform in transforms { sections.append(transform) }
    for layer in layers { sections.append(layer) }
    for resource in resources { sections += resource.sections }
    return sections.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  /// Reads the command line, runs the command, and reports a failure in one line.
  private static func run(arguments: [String]) async -> ExitCode {
    // Shells, packages and the program itself call commands that people do not see.
    let isHidden = arguments.first?.hasPrefix("__") == true
    if isHidden, let request = CompletionRequest(arguments) {
      StoredNames.endSoon()
      Console.output.writeIfPossible(await CachectlCommand.completions(for: request))
      return .success
    }
    do {
      if let number = ProcessEnvironment.malformedArgument {
        throw ValidationError("argument \(number) is not written in UTF-8")
      }
      if let name = ProcessEnvironment.malformedVariable(beginning: "CACHECTL_", others: ["TMPDIR"]) {
        throw ConfigurationError(
          .malformed, "the environment variable \(name) is not written in UTF-8",
          hint: "set it to text in UTF-8, or unset it")
      }
      if isHidden, let files = Documents.files(arguments.first), arguments.count <= 2 {
        try Console.output.write(try Documents.text(arguments.dropFirst().first, of: files))
        return .success
      }
      for resource in Self.current.resources { if let defect = resource.defect { throw defect } }
      let isReading = isHidden && arguments.first == DamagedStoreCommand.name
      let command: any ParsableCommand.Type = isReading ? DamagedStoreCommand.self : CachectlCommand.self
      switch try command.parseAsRoot(isReading ? Array(arguments.dropFirst()) : arguments) {
      case .command(var command, let path):
        do { try await command.runToEnd() } catch let error as ValidationError {
          throw CommandLineError(error, in: path)
        }
      case .help(let request):
        // Only help has the time to look for them.
        if let defect = CachectlCommand.declarationDefects.first {
          throw ConfigurationError(.defect, defect, hint: "correct the declarations in the program")
        }
        try Console.output.write(request.text(columns: Console.output.screen.width ?? 80))
      case .version(let version): try Console.output.write("\(version)\n")
      }
      return .success
    } catch let status as ExitCode {
      return status
    } catch {
      let failure = Failure(error)
      Diagnostics.standard.write(.error(failure.view))
      return failure.status
    }
  }
}

/// The root of all commands.
struct CachectlCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cachectl",
    abstract: "Like curl, but it remembers: fetches URLs through a cache on your disk",
    discussion: """
      A response is stored by the rules of HTTP, and served from the store while it is fresh, or if the server is down. \
      Options can be before or after the command.
      """,
    examples: [
      "cachectl fetch https://example.com/data.json", "cachectl explain https://example.com/data.json",
      "cachectl ls --state stale",
    ],
    version: "cachectl \(Cachectl.version)", groupedSubcommands: Cachectl.current.commands,
    topics: [
      HelpTopic(
        "global", abstract: "Show the options that every command has", title: GlobalOptions.title,
        options: GlobalOptions.self),
      HelpTopic(
        "exit-codes", abstract: "Show the exit codes and their meanings", title: "Exit codes",
        rows: ExitCode.meanings.map { (String($0.code.rawValue), $0.meaning) }),
    ])
}

struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print a completion script for a shell",
    discussion: """
      The shell then completes commands, options, values of settings, and the keys of entries. `./install` installs the \
      scripts of all shells.
      """,
    examples: [
      "source <(cachectl completion bash)", "cachectl completion zsh > ~/.zsh/completions/_cachectl",
      "cachectl completion fish > ~/.config/fish/completions/cachectl.fish",
    ])

  @Argument(help: "The shell")
  var shell: CompletionShell

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try Console.output.write(CachectlCommand.completionScript(for: shell))
  }
}
