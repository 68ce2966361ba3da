/// Makes a value of type `Value` from texts on the command line, and describes such values.
struct ValueReader<Value: Sendable>: Sendable {
  /// The value if the command line gives none; `nil` if it must give one.
  let defaultValue: Value?
  /// Whether every occurrence counts, instead of only the last.
  var isRepeating = false
  /// Describes the values. Call it only for help, completion and mistakes: the first conversion of a generic type's
  /// value to text takes tens of microseconds.
  let describe: @Sendable () -> ValueDescription
  /// Makes the value from all given texts, in order; there is at least one.
  let convert: @Sendable ([String]) throws(ReadingFailure) -> Value

  /// The value that `texts` give, or the default.
  func read(_ texts: [String]) throws(ReadingFailure) -> Value {
    if !texts.isEmpty { return try convert(texts) }
    guard let defaultValue else { throw .missing }
    return defaultValue
  }
}

/// The description of a value for people and shells.
struct ValueDescription {
  /// The default, as help shows it.
  var defaultValue: String?
  /// All allowed values; empty if they cannot be listed.
  var allowedValues: [String] = []
  /// The expected value, to follow "expected".
  var expectation: String?
  /// How a shell completes the value.
  var completion = CompletionKind.default
}

/// The reason why a value could not be made.
enum ReadingFailure: Error {
  /// A required value is missing.
  case missing
  /// The text is malformed.
  case malformed(String)
}

extension ValueReader where Value: ExpressibleByArgument {
  /// Reads the last value.
  static func single(default fallback: Value?) -> ValueReader<Value> {
    ValueReader(
      defaultValue: fallback, describe: { .of(Value.self, default: fallback?.defaultValueDescription) },
      convert: { texts throws(ReadingFailure) in try last(texts) })
  }
}

extension ValueReader {
  /// Reads the last value.
  static func optional<T: ExpressibleByArgument>(default fallback: T?) -> ValueReader<T?> where Value == T? {
    ValueReader(
      defaultValue: .some(fallback), describe: { .of(T.self, default: fallback?.defaultValueDescription) },
      convert: { texts throws(ReadingFailure) in try last(texts) as T })
  }

  /// Reads all values.
  static func list<T: ExpressibleByArgument>(default fallback: [T]?) -> ValueReader<[T]> where Value == [T] {
    ValueReader(
      defaultValue: fallback, isRepeating: true,
      describe: {
        let shown = (fallback ?? []).map(\.defaultValueDescription).joined(separator: ", ")
        return .of(T.self, default: shown.isEmpty ? nil : shown)
      },
      convert: { texts throws(ReadingFailure) in
        try texts.map { text throws(ReadingFailure) in try last([text]) as T }
      })
  }
}

extension ValueDescription {
  /// The description of single values of `type`.
  fileprivate static func of<T: ExpressibleByArgument>(_ type: T.Type, default value: String?) -> ValueDescription {
    ValueDescription(
      defaultValue: value, allowedValues: T.allValueStrings, expectation: T.argumentExpectation,
      completion: T.defaultCompletionKind)
  }
}

/// The value that the last of `texts` spells.
private func last<T: ExpressibleByArgument>(_ texts: [String]) throws(ReadingFailure) -> T {
  guard let text = texts.last else { throw .missing }
  guard let value = T(argument: text) else { throw .malformed(text) }
  return value
}
