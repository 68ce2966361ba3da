internal import CommandLineKit
internal import CachePresentation
internal import FetchVocabulary

/// An error as the tool reports it: the message and the exit code.
struct Failure {
  let view: ErrorView
  let status: ExitCode

  init(_ error: any Error) {
    switch error {
    case let error as CommandLineError:
      view = ErrorView(code: "commandLine", message: error.message, hint: error.hint)
      status = error.exitCode
    case let error as ValidationError:
      view = ErrorView(code: "commandLine", message: error.message, hint: "see 'cachectl help'")
      status = .validationFailure
    case let error as ConfigurationError:
      view = ErrorView(error)
      status = ExitCode(error)
    case let error as CacheError:
      view = ErrorView(error)
      status = ExitCode(error.code)
    default:
      view = ErrorView(
        code: "defect", message: "a defect: \(error)", hint: "please report it with the command that led to it")
      status = .defect
    }
  }
}

extension ExitCode {
  /// The exit code for the mistake `error` in the configuration.
  init(_ error: ConfigurationError) {
    self =
      switch error.code {
      case .permissionDenied: .refused
      case .cancelled: .interrupted
      case .defect: .defect
      default: error.isOfCommandLine ? .validationFailure : .badConfiguration
      }
  }
}

extension ErrorView {
  /// The mistake `error` in the configuration.
  init(_ error: ConfigurationError) {
    self.init(code: error.code.rawValue, message: error.message, hint: error.hint)
  }
}

extension ConfigurationError {
  /// Whether the mistake is in a flag, and so in the command line. A correctly named library that cannot be used is not
  /// such a mistake.
  var isOfCommandLine: Bool {
    guard code != .invalidPlugin, code != .permissionDenied else { return false }
    return if case .flag? = source { true } else { false }
  }
}
