/// Makes a value of type `Value` out of what stands on the command line, and describes such values.
struct ValueReader<Value: Sendable>: Sendable {
  /// Whether the command line must give a value.
  let isRequired: Bool
  /// Whether every occurrence counts, rather than the last.
  var isRepeating = false
  /// The value used where none is given, as help shows it.
  let defaultDescription: String?
  /// All values that are allowed, or none where they cannot be listed.
  let allowedValues: [String]
  /// What is expected, to go on after "expected".
  let expectation: String?
  /// How a shell completes the value.
  let completion: CompletionKind
  /// Makes the value out of all texts given, in order.
  let read: @Sendable ([String]) throws(ReadingFailure) -> Value
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
    make(of: Value.self, isRequired: fallback == nil, defaultDescription: fallback?.defaultValueDescription) {
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
    make(of: T.self, isRequired: false, defaultDescription: fallback?.defaultValueDescription) {
      texts throws(ReadingFailure) in
      if let last = texts.last { return try element(last) as T }
      return fallback
    }
  }

  /// Reads all values given, or gives `fallback`, without which one value at least is required.
  static func list<T: ExpressibleByArgument>(default fallback: [T]?) -> ValueReader<[T]> where Value == [T] {
    let shown = fallback?.map(\.defaultValueDescription).joined(separator: ", ") ?? ""
    var reader = make(of: T.self, isRequired: fallback == nil, defaultDescription: shown.isEmpty ? nil : shown) {
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
    of type: T.Type, isRequired: Bool, defaultDescription: String?,
    read: @escaping @Sendable ([String]) throws(ReadingFailure) -> Value
  ) -> ValueReader<Value> {
    ValueReader(
      isRequired: isRequired, defaultDescription: defaultDescription, allowedValues: T.allValueStrings,
      expectation: T.argumentExpectation, completion: T.defaultCompletionKind, read: read)
  }
}

/// The value written as `text`.
private func element<T: ExpressibleByArgument>(_ text: String) throws(ReadingFailure) -> T {
  guard let value = T(argument: text) else { throw .malformed(text) }
  return value
}
