internal import FetchVocabulary
internal import EngineAPI

/// The result of one check of the doctor.
struct Finding: Sendable {
  /// How serious a finding is.
  enum Result: String, Sendable, CaseIterable {
    /// All is well.
    case ok
    /// It is worth knowing, but everything works.
    case warning
    /// Something does not work, or is not safe.
    case problem
  }

  /// What was checked.
  let name: String
  /// What was found, in one line.
  let message: String
  /// What to do about it; empty if nothing.
  let hint: String
  /// How serious the finding is.
  let result: Result
  /// The kind of failure that the user would see; `nil` unless the result is a problem.
  let code: CacheError.Code?

  private init(
    _ name: String, _ result: Result, _ message: String, _ hint: String, _ code: CacheError.Code?
  ) {
    (self.name, self.result, self.message, self.hint, self.code) = (name, result, message, hint, code)
  }

  static func ok(_ name: String, _ message: String) -> Finding { Finding(name, .ok, message, "", nil) }

  static func warning(_ name: String, _ message: String, hint: String) -> Finding {
    Finding(name, .warning, message, hint, nil)
  }

  static func problem(_ name: String, _ code: CacheError.Code, _ message: String, hint: String) -> Finding {
    Finding(name, .problem, message, hint, code)
  }

  static func problem(_ name: String, _ error: CacheError) -> Finding {
    problem(name, error.code, error.message, hint: ErrorView(error).hint)
  }
}

extension CacheError.Code {
  /// The codes of problems, the most serious first: each must be solved before the next ones can be judged.
  private static let bySeriousness: [CacheError.Code] = [
    .invalidOption, .permissionDenied, .damaged, .unsupportedFormat, .cannotCreate,
    .noSpace, .ioFailed, .busy,
  ]

  /// The most serious of `codes`; `nil` if there are none.
  static func worst(of codes: [CacheError.Code]) -> CacheError.Code? {
    bySeriousness.first { codes.contains($0) } ?? codes.first
  }
}
