/// Something that is wrong with the configuration.
public struct ConfigurationError: Error, Sendable, Hashable {
  /// A kind of mistake.
  public enum Code: String, Sendable, CaseIterable {
    /// A file that was named does not exist.
    case missingFile
    /// A file cannot be read.
    case unreadableFile
    /// A file was found in the working folder that sets what only a trusted one may.
    case untrusted
    /// A file is not JSON.
    case syntax
    /// There is no such key, variable or backend.
    case unknownKey
    /// A value is of another type than the key's.
    case wrongType
    /// A value is of the right type, but not written as such values are.
    case malformed
    /// A value is not among those that are allowed.
    case outOfRange
    /// A value is missing that the others make necessary.
    case missing
    /// A library is no engine, or none that can be used here.
    case invalidPlugin
    /// Others may change a library.
    case permissionDenied
  }

  /// What kind of mistake this is.
  public let code: Code
  /// What is wrong, in one line without a final full stop, naming the source, the place and the key.
  public let message: String
  /// What to do about it, in one line.
  public let hint: String
  /// The path of the key that the mistake is in; `nil` where it is in none.
  public let key: String?
  /// The flag, variable or place that the mistake is in; `nil` where it is in none. A mistake in a flag is one of the
  /// command line.
  public let source: ConfigurationSource?

  /// An error with the given parts.
  public init(_ code: Code, _ message: String, hint: String, key: String? = nil, source: ConfigurationSource? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.key = key
    self.source = source
  }

  /// The error that the file at `path` cannot be read, because of `reason`.
  public static func unreadable(_ path: String, reason: String) -> ConfigurationError {
    ConfigurationError(.unreadableFile, "\(path): \(reason)", hint: "make it a file that you may read")
  }
}

extension ConfigurationError: CustomStringConvertible {
  /// The message and the hint in one line.
  public var description: String { "\(message): \(hint)" }
}
