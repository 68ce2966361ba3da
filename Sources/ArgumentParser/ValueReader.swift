/// Makes a value of type `Value` out of what stands on the command line, and describes such values.
struct ValueReader<Value: Sendable>: Sendable {
  /// Whether the command line must give a value.
  let isRequired: Bool
  /// Whether every occurrence counts, rather than the last.
  var isRepeating = false
  /// Describes the values. It is called only for help, completion and mistakes: turning a value of a generic type into
  /// text costs tens of microseconds the first time.
  let describe: @Sendable () -> ValueDescription
  /// Makes the value out of all texts given, in order.
  let read: @Sendable ([String]) throws(ReadingFailure) -> Value
}

/// What people and shells are told of a value.
struct ValueDescription {
  /// The value used where none is given, as help shows it.
  var defaultValue: String?
  /// All values that are allowed, or none where they cannot be listed.
  var allowedValues: [String] = []
  /// What is expected, to go on after "expected".
  var expectation: String?
  /// How a shell completes the value.
  var completion = CompletionKind.default
}

/// Why a value could not be made.
enum ReadingFailure: Error {
  /// A value is required and none is given.
  case missing
  /// The text is no such value.
  case malformed(String)
}

extension ValueReader where Value: ExpressibleByArgument {
  /// Reads the last value given, or gives `fallback`, without which a value is required.
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
  /// Reads the last value given, or gives `fallback`.
  static func optional<T: ExpressibleByArgument>(default fallback: T?) -> ValueReader<T?> where Value == T? {
    make(of: T.self, isRequired: false, default: { fallback?.defaultValueDescription }) {
      texts throws(ReadingFailure) in
      if let last = texts.last { return try element(last) as T }
      return fallback
    }
  }

  /// Reads all values given, or gives `fallback`, without which one value at least is required.
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

  /// A reader whose single values are of type `T`.
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

/// The value written as `text`.
private func element<T: ExpressibleByArgument>(_ text: String) throws(ReadingFailure) -> T {
  guard let value = T(argument: text) else { throw .malformed(text) }
  return value
}
