/// Makes a value from texts on the command line, and describes such values. It is of one type for all types of values:
/// each start of a program would have to make the others.
struct ValueReader: Sendable {
  /// Whether the command line must give a value, because there is no default.
  let isRequired: Bool
  /// Whether every occurrence counts, instead of only the last.
  var isRepeating = false
  /// Describes the values. Call it only for help, completion and mistakes: the first conversion of a generic type's
  /// value to text takes tens of microseconds.
  let describe: @Sendable () -> ValueDescription
  /// Makes the value from all given texts, in order. Without texts it is the default.
  let read: @Sendable ([String]) throws(ReadingFailure) -> ValueBox
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

extension ValueReader {
  /// Reads the last value.
  static func single<T: ExpressibleByArgument>(default fallback: T?) -> ValueReader {
    ValueReader(
      isRequired: fallback == nil, describe: { .of(T.self, default: fallback?.defaultValueDescription) },
      read: { texts throws(ReadingFailure) in
        if texts.isEmpty, let fallback { return TypedValueBox(value: fallback) }
        return TypedValueBox(value: try last(texts) as T)
      })
  }

  /// Reads the last value; `nil` is a value too.
  static func optional<T: ExpressibleByArgument>(default fallback: T?) -> ValueReader {
    ValueReader(
      isRequired: false, describe: { .of(T.self, default: fallback?.defaultValueDescription) },
      read: { texts throws(ReadingFailure) in
        TypedValueBox<T?>(value: texts.isEmpty ? fallback : try last(texts))
      })
  }

  static func list<T: ExpressibleByArgument>(default fallback: [T]?) -> ValueReader {
    ValueReader(
      isRequired: fallback == nil, isRepeating: true,
      describe: {
        let shown = (fallback ?? []).map(\.defaultValueDescription).joined(separator: ", ")
        return .of(T.self, default: shown.isEmpty ? nil : shown)
      },
      read: { texts throws(ReadingFailure) in
        if texts.isEmpty, let fallback { return TypedValueBox(value: fallback) }
        if texts.isEmpty { throw .missing }
        return TypedValueBox<[T]>(value: try texts.map { text throws(ReadingFailure) in try last([text]) })
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
