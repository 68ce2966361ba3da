public import StorageSPI

/// A value that is stored as JSON.
///
/// It is read and written by hand: reading is what every answer out of the cache pays for, and by way of `Decodable` it
/// takes ten times as long, half a millisecond more the first time in a process.
public protocol JSONPayload: Sendable {
  /// Reads what `write` has written. Members that it does not know are to be skipped.
  ///
  /// - Throws: `JSONReader.Failure` where the document has another shape.
  init(json: inout JSONReader) throws(JSONReader.Failure)

  /// Writes the value. Members in the order of their names are the quickest to read.
  func write(to json: inout JSONWriter)
}

extension JSONReader {
  /// The value of the member `name` of the object that was read, which must have it.
  public func required<Value>(_ value: Value?, _ name: String) throws(Failure) -> Value {
    guard let value else { throw failure("the member '\(name)' is missing") }
    return value
  }
}
