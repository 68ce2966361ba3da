internal import CacheComposition

extension ConfigurationError {
  /// Whether the mistake is in a flag, and so in the command line. A correctly named library that cannot be used is not
  /// such a mistake.
  var isOfCommandLine: Bool {
    guard code != .invalidPlugin, code != .permissionDenied else { return false }
    return if case .flag? = source { true } else { false }
  }
}
