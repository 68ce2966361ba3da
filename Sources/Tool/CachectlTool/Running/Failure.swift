internal import CommandLineKit
internal import CachePresentation
internal import FetchVocabulary

/// An error as the tool reports it: the message and the exit status.
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
  static let dataError = ExitCode(65)
  static let notFound = ExitCode(66)
  static let unavailable = ExitCode(69)
  static let defect = ExitCode(70)
  static let cannotCreate = ExitCode(73)
  static let ioFailed = ExitCode(74)
  static let busy = ExitCode(75)
  static let refused = ExitCode(77)
  static let badConfiguration = ExitCode(78)
  static let interrupted = ExitCode(130)

  /// The failure for a mistake in the configuration.
  init(_ error: ConfigurationError) {
    self =
      switch error.code {
      case .permissionDenied: .refused
      case .cancelled: .interrupted
      case .defect: .defect
      default: error.isOfCommandLine ? .validationFailure : .badConfiguration
      }
  }

  /// The exit status for each kind of failure, as the contract of the command line defines it. A code that is not in
  /// the registry comes from an engine, which then has failed.
  init(_ code: CacheError.Code) {
    switch code {
    case .invalidRequest, .invalidKey: self = .validationFailure
    case .damaged, .wrongType, .notSealed, .malformed, .unsupportedFormat: self = .dataError
    case .notCached, .notFound: self = .notFound
    case .originUnreachable, .invalidAnswer, .unreachable: self = .unavailable
    case .cannotCreate: self = .cannotCreate
    case .noSpace, .ioFailed, .tooLarge, .overBounds, .unsupported, .failed: self = .ioFailed
    case .busy, .conflict: self = .busy
    case .originRefused, .permissionDenied, .wrongKey: self = .refused
    case .unknownBackend, .invalidPlugin, .invalidOption, .originUnavailable: self = .badConfiguration
    case .cancelled: self = .interrupted
    case .closed: self = .defect
    default: self = .ioFailed
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
