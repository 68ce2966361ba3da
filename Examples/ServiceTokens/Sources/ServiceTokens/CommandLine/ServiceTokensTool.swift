internal import CachectlTool
internal import FetchVocabulary
internal import FoundationEssentials
internal import ServiceTokensDomain

/// The program: reads the command line and the user's configuration of cachectl, and runs the command.
public struct ServiceTokensTool: Sendable {
  private let environment: [String: String]
  private let workingDirectory: String
  private let readLine: @Sendable () -> String?

  /// The program in an environment.
  ///
  /// - Parameters:
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - readLine: reads a line of stdin; `nil` at its end.
  public init(
    environment: [String: String], workingDirectory: String, readLine: @escaping @Sendable () -> String?
  ) {
    self.environment = environment
    self.workingDirectory = workingDirectory
    self.readLine = readLine
  }

  /// The output of the program, and its exit code.
  public struct Outcome: Sendable, Hashable {
    /// For stdout.
    public let output: String
    /// For stderr: one line, which never holds a token's value.
    public let error: String
    /// As for cachectl.
    public let status: Int32

    /// An outcome of the given parts.
    public init(output: String = "", error: String = "", status: Int32 = 0) {
      self.output = output
      self.error = error
      self.status = status
    }
  }

  /// Does what `arguments`, without the program's name, ask for.
  public func run(_ arguments: [String]) async -> Outcome {
    do {
      return Outcome(output: try await perform(try Command(arguments)))
    } catch {
      return Outcome(failure: error)
    }
  }

  private func perform(_ command: Command) async throws -> String {
    if command.action == .help { return Command.usage }
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.standard.declarations,
      // The file is shared with the tool, whose resources have sections in it.
      sections: [CitiesSettings.self, MoviesSettings.self, MovieQueriesSettings.self],
      environment: EnvironmentVariables(environment),
      workingDirectory: workingDirectory,
      userHome: environment["HOME"] ?? "/",
      readFile: { path throws(ConfigurationError) in try ConfigurationFiles.contents(of: path) })
    let app = AppDIContainer(configuration: try loader.load(command.flags), userAgent: "service-tokens")
    let store = try await app.openStore()
    do throws(CacheError) {
      let text = try await perform(command.action, ServiceTokensDIContainer(store: store), now: app.now)
      try await store.close()
      return text
    } catch {
      // The user must know the first failure; closing twice does nothing.
      try? await store.close()
      throw error
    }
  }

  private func perform(
    _ action: Command.Action, _ container: ServiceTokensDIContainer, now: Duration
  ) async throws(CacheError) -> String {
    switch action {
    case .help: return Command.usage
    case .list(let showsValues):
      let tokens = try await container.makeListServiceTokensUseCase().execute()
      return TokensTable(tokens: tokens, showsValues: showsValues).text
    case .insert(let name, let value, let expiresAfter):
      let secret = try TokenValue(value == "-" ? readLine() ?? "" : value)
      let token = try ServiceToken(name: name, value: secret, expiresAt: expiresAfter.map { now + $0 })
      try await container.makeInsertServiceTokenUseCase().execute(token)
      return ""
    }
  }
}
