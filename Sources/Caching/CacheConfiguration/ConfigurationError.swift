internal import CacheBase

/// A mistake in the configuration.
public struct ConfigurationError: Error, Sendable, Hashable {
  /// A kind of mistake.
  public enum Code: String, Sendable, CaseIterable {
    /// A named file does not exist.
    case missingFile
    /// A file cannot be read.
    case unreadableFile
    /// A file is not JSON.
    case syntax
    /// There is no such key, variable or backend.
    case unknownKey
    /// A value has the wrong type.
    case wrongType
    /// A value has the right type, but is written wrongly.
    case malformed
    /// A value is not allowed.
    case outOfRange
    /// A value is missing that other values require.
    case missing
    /// A library is not an engine, or cannot be used here.
    case invalidPlugin
    /// The task was cancelled while it waited for a file.
    case cancelled
    /// Other users can change a library.
    case permissionDenied
    /// The declarations of the program contradict each other.
    case defect
  }

  /// The kind of the mistake.
  public let code: Code
  /// The mistake, in one line without a final full stop, naming the source, the place and the key.
  public let message: String
  /// How to correct it, in one line.
  public let hint: String
  /// The path of the wrong key; `nil` if the mistake is not in a key.
  public let key: String?
  /// The flag, variable or place of the mistake; `nil` if it has none. A mistake in a flag is a mistake of the command
  /// line.
  public let source: ConfigurationSource?

  /// An error with its message and hint, each in one line.
  public init(_ code: Code, _ message: String, hint: String, key: String? = nil, source: ConfigurationSource? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
    self.key = key
    self.source = source
  }

  /// The error for the file at `path` that cannot be read, for `reason`. Without `hint` it advises to name another.
  static func unreadable(_ path: String, reason: String, hint: String? = nil) -> ConfigurationError {
    ConfigurationError(.unreadableFile, "\(path): \(reason)", hint: hint ?? "name another file")
  }
}

extension ConfigurationError: CustomStringConvertible {
  /// The message and the hint in one line.
  public var description: String { "\(message): \(hint)" }
}

extension String {
  /// The text in quotation marks and escaped as in JSON, which is safe on a terminal; shortened if it is long.
  package var shown: String {
    JSONText.text(.string(unicodeScalars.count > 60 ? String(unicodeScalars.prefix(57)) + "..." : self))
  }

  /// The text as the name of a key: quoted unless it is a plain name, and shortened if it is long.
  var shownKey: String {
    let short = utf8.count > 80 ? String(unicodeScalars.prefix(40)) + "..." : self
    let isPlain = short.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-".utf8.contains($0) }
    return isPlain && !isEmpty ? short : JSONText.text(.string(short))
  }
}
