internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import StorageSPI

/// The result of one check of the doctor.
struct Finding: Sendable {
  /// What was checked.
  let name: String
  /// What was found, in one line.
  let message: String
  /// What to do about it; empty if nothing.
  let hint: String
  /// How serious the finding is.
  let result: DoctorView.CheckRow.Result
  /// The kind of failure that the user would see; `nil` unless the result is a problem.
  let code: CacheError.Code?

  private init(
    _ name: String, _ result: DoctorView.CheckRow.Result, _ message: String, _ hint: String, _ code: CacheError.Code?
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
    problem(name, error.code, error.message, hint: error.hint)
  }

  /// The row for the user.
  var row: DoctorView.CheckRow { DoctorView.CheckRow(name: name, result: result, message: message, hint: hint) }
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
