/// Makes a value of type `Value` from texts on the command line, and describes such values.
struct ValueReader<Value: Sendable>: Sendable {
  /// Whether the command line must give a value.
  let isRequired: Bool
  /// Whether every occurrence counts, instead of only the last.
  var isRepeating = false
  /// Describes the values. Call it only for help, completion and mistakes: the first conversion of a generic type's
  /// value to text takes tens of microseconds.
  let describe: @Sendable () -> ValueDescription
  /// Makes the value from all given texts, in order.
  let read: @Sendable ([String]) throws(ReadingFailure) -> Value
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
  /// Reads the last value, or returns `fallback`; without `fallback` a value is required.
  static func single(default fallback: Value?) -> ValueReader<Value> {
    make(of: Value.self, isRequired: fallback == nil, default: { fallback?.defaultValueDescription }) {
      texts throws(ReadingFailure) in
      if let last = texts.last { return try element(last) }
      guard let fallback else { throw .missing }
      return fallback
    }
  }
}

extension ValueReader {
  /// Reads the last value, or returns `fallback`.
  static func optional<T: ExpressibleByArgument>(default fallback: T?) -> ValueReader<T?> where Value == T? {
    make(of: T.self, isRequired: false, default: { fallback?.defaultValueDescription }) {
      texts throws(ReadingFailure) in
      if let last = texts.last { return try element(last) as T }
      return fallback
    }
  }

  /// Reads all values, or returns `fallback`; without `fallback` at least one value is required.
  static func list<T: ExpressibleByArgument>(default fallback: [T]?) -> ValueReader<[T]> where Value == [T] {
    let shown: @Sendable () -> String? = {
      guard let fallback, !fallback.isEmpty else { return nil }
      return fallback.map(\.defaultValueDescription).joined(separator: ", ")
    }
    var reader = make(of: T.self, isRequired: fallback == nil, default: shown) {
      texts throws(ReadingFailure) in
      guard texts.isEmpty else { return try texts.map { text throws(ReadingFailure) in try element(text) as T } }
      guard let fallback else { throw .missing }
      return fallback
    }
    reader.isRepeating = true
    return reader
  }

  /// A reader whose single values have type `T`.
  private static func make<T: ExpressibleByArgument>(
    of type: T.Type, isRequired: Bool, default shown: @escaping @Sendable () -> String?,
    read: @escaping @Sendable ([String]) throws(ReadingFailure) -> Value
  ) -> ValueReader<Value> {
    let describe: @Sendable () -> ValueDescription = {
      ValueDescription(
        defaultValue: shown(), allowedValues: T.allValueStrings, expectation: T.argumentExpectation,
        completion: T.defaultCompletionKind)
    }
    return ValueReader(isRequired: isRequired, describe: describe, read: read)
  }
}

/// The value spelled `text`.
private func element<T: ExpressibleByArgument>(_ text: String) throws(ReadingFailure) -> T {
  guard let value = T(argument: text) else { throw .malformed(text) }
  return value
}
