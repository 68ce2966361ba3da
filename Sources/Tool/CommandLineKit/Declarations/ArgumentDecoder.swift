/// Passes values to the property wrappers of a command through its synthesised `init(from:)`, in the order of the
/// declarations. On the way it learns the properties' names.
final class ArgumentDecoder: Decoder {
  /// The values in the order of the declarations; empty to collect only the names.
  private let values: [ValueBox]
  /// The names of the properties met so far.
  private(set) var properties: [String] = []
  /// The name of the property being decoded.
  fileprivate var property = ""

  /// A decoder that hands out `values`.
  init(values: [ValueBox] = []) { self.values = values }

  /// Whether there are values, which can then be validated.
  var suppliesValues: Bool { !values.isEmpty }

  /// The value of the property being decoded; `nil` when only the names are collected.
  func next<Value>(_ type: Value.Type) -> Value? {
    let index = properties.count
    properties.append(property)
    return index < values.count ? (values[index] as? TypedValueBox<Value>)?.value : nil
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ArgumentContainer(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unwrappedProperty }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw unwrappedProperty }

  /// The error for a stored property without a property wrapper.
  fileprivate var unwrappedProperty: DecodingError {
    let name = "the property '\(property)' is neither an option, a flag, an argument nor an option group"
    return .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: name))
  }
}

/// The properties of one command or group.
private struct ArgumentContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ArgumentDecoder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { true }

  func decodeNil(forKey key: Key) throws -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    decoder.property = key.stringValue
    return try Value(from: decoder)
  }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw decoder.unwrappedProperty }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw decoder.unwrappedProperty
  }

  func superDecoder() throws -> any Decoder { decoder }

  func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}

/// The value of a property wrapper, from its declaration until the command line has been read.
struct ArgumentValue<Value: Sendable>: Sendable, Decodable {
  /// The value; `nil` while there is neither a default nor a value from the command line.
  private var stored: Value?

  /// Starts with the declared default.
  init(default value: Value?) { stored = value }

  init(from decoder: any Decoder) throws { stored = (decoder as? ArgumentDecoder)?.next(Value.self) }

  /// The value.
  ///
  /// Only a command from the parser has all its values. Reading another command's is a programming error that the type
  /// system cannot prevent, since a property wrapper's value is not optional.
  var value: Value {
    get {
      guard let stored else { preconditionFailure("a required option or argument was read before parsing") }
      return stored
    }
    set { stored = newValue }
  }
}
