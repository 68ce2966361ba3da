public import StorageSPI

/// A value that is stored as JSON.
///
/// Reading and writing are coded by hand. Every answer from the cache pays for reading, and `Decodable` takes ten times
/// as long, plus half a millisecond the first time in a process.
public protocol JSONPayload: Sendable {
  /// Reads what `write` has written. It must skip members that it does not know.
  ///
  /// - Throws: `JSONReader.Failure` if the document has another structure.
  init(json: inout JSONReader) throws(JSONReader.Failure)

  /// Writes the value. Members sorted by name are the fastest to read.
  func write(to json: inout JSONWriter)
}

extension JSONReader {
  /// The value of the member `name`, which the object must have.
  @inlinable
  public func required<Value>(_ value: Value?, _ name: String) throws(Failure) -> Value {
    guard let value else { throw failure("the member '\(name)' is missing") }
    return value
  }
}
