internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// The program: reads the command line, runs the command, and reports a failure in one line.
enum Tool {
  static let version = "0.1.0"

  static func run(arguments: [String]) async -> ExitCode {
    if let query = CompletionQuery(arguments) {
      await CompletionAnswer.give(to: query)
      return .success
    }
    do {
      if let number = ProcessEnvironment.malformedArgument {
        throw ValidationError("argument \(number) is not written in UTF-8")
      }
      if let name = ProcessEnvironment.malformedVariable {
        throw ConfigurationError(
          .malformed, "the environment variable \(name) is not written in UTF-8",
          hint: "set it to text in UTF-8, or unset it")
      }
      switch try CachectlCommand.parseAsRoot(arguments) {
      case .command(var command, _): try await command.runToEnd()
      case .help(let request): try Console.output.write(request.text(columns: Console.output.screen.width ?? 80))
      case .version(let version): try Console.output.write("\(version)\n")
      }
      return .success
    } catch {
      return ErrorReporter.report(error)
    }
  }
}

/// Reports a failure on the standard error, and finds the exit status for it.
enum ErrorReporter {
  static func report(_ error: any Error) -> ExitCode {
    if let status = error as? ExitCode { return status }
    let failure = Failure(error)
    Diagnostics.standard.write(.error(failure.view))
    return failure.status
  }
}
