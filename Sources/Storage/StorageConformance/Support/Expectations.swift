internal import StorageSPI

/// Throws a failure with `message` unless `condition` holds.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure(message()) }
}

/// Throws a failure about `what` unless `got` equals `expected`.
func expectEqual<Value: Equatable>(_ got: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
  guard got == expected else { throw ConformanceFailure("\(what()): expected \(expected), got \(got)") }
}

/// Throws a failure unless `body` throws an error with the code `code`.
func expectError(
  _ code: CacheError.Code, _ what: @autoclosure () -> String, _ body: () async throws -> Void
) async throws {
  do {
    try await body()
  } catch let error as CacheError {
    guard error.code == code else {
      throw ConformanceFailure("\(what()): expected the error \(code.rawValue), got \(error.description)")
    }
    return
  }
  throw ConformanceFailure("\(what()): expected the error \(code.rawValue), got none")
}

/// Throws a failure unless `got` equals `expected`, byte by byte and field by field.
func expectEqual(_ got: Entry?, _ expected: Entry?, at key: CacheKey) throws {
  let name = key.abbreviated
  guard let expected else {
    return try expect(got == nil, "\(name): expected no entry, got one with checksum \(got?.metadata.checksum ?? 0)")
  }
  guard let got else { throw ConformanceFailure("\(name): expected an entry, got nil") }
  if let difference = PayloadDifference(got: got.payload, expected: expected.payload) {
    throw ConformanceFailure("\(name): \(difference)")
  }
  try expectEqual(got.metadata, expected.metadata, at: key)
}

/// Throws a failure that names the field unless `got` equals `expected`.
func expectEqual(_ got: EntryMetadata, _ expected: EntryMetadata, at key: CacheKey) throws {
  let name = key.abbreviated
  try expectEqual(got.storedAt.milliseconds, expected.storedAt.milliseconds, "\(name): storedAt")
  try expectEqual(got.freshUntil.milliseconds, expected.freshUntil.milliseconds, "\(name): freshUntil")
  try expectEqual(got.retainUntil.milliseconds, expected.retainUntil.milliseconds, "\(name): retainUntil")
  try expectIdentical(got.contentType, expected.contentType, "\(name): contentType")
  try expectEqual(got.checksum, expected.checksum, "\(name): checksum")
  try expectEqual(got.attributes.count, expected.attributes.count, "\(name): number of attributes")
  for (attribute, value) in expected.attributes {
    guard let index = got.attributes.index(forKey: attribute) else {
      throw ConformanceFailure("\(name): attribute \(attribute.debugDescription) is missing")
    }
    try expectIdentical(got.attributes[index].key, attribute, "\(name): name of an attribute")
    try expectIdentical(got.attributes[index].value, value, "\(name): attribute \(attribute.debugDescription)")
  }
}

/// Compares texts by their bytes: `==` treats a composed and a decomposed letter as equal.
private func expectIdentical(_ got: String, _ expected: String, _ what: @autoclosure () -> String) throws {
  guard !got.utf8.elementsEqual(expected.utf8) else { return }
  throw ConformanceFailure("\(what()): expected \(expected.utf8Description), got \(got.utf8Description)")
}

extension String {
  fileprivate var utf8Description: String { "\(prefix(80).debugDescription) (\(utf8.count) bytes)" }
}

extension CacheKey {
  /// The key for messages: a long one is shown as its beginning and its length.
  var abbreviated: String {
    let count = text.utf8.count
    return count <= 80 ? text : "\(text.prefix(40))...\(text.suffix(20)) (\(count) bytes)"
  }
}

/// The difference between two payloads.
struct PayloadDifference: CustomStringConvertible {
  /// The expected and the actual bytes, in one line.
  let description: String

  /// The first difference of `got` from `expected`; `nil` if they are equal.
  ///
  /// Payloads are compared by hash, which the standard library computes fast even in a build without optimisation.
  /// Cost: a pass over the bytes; if they differ, two more to find the place.
  init?(got: [UInt8], expected: [UInt8]) {
    let shared = min(got.count, expected.count)
    let isPrefix = Self.hash(got[..<shared]) == Self.hash(expected[..<shared])
    if isPrefix, got.count == expected.count { return nil }
    let offset = isPrefix ? shared : Self.firstDifference(got, expected, in: 0..<shared)
    let (gotByte, expectedByte) = (got.dropFirst(offset).first, expected.dropFirst(offset).first)
    description =
      "payload: expected \(expected.count) bytes, got \(got.count); at offset \(offset) expected "
      + "\(expectedByte.map(String.init) ?? "the end"), got \(gotByte.map(String.init) ?? "the end")"
  }

  /// The first position in `range`, which contains a difference, at which the two differ.
  private static func firstDifference(_ got: [UInt8], _ expected: [UInt8], in range: Range<Int>) -> Int {
    var range = range
    while range.count > 1 {
      let half = range.lowerBound..<(range.lowerBound + range.count / 2)
      range = hash(got[half]) == hash(expected[half]) ? half.upperBound..<range.upperBound : half
    }
    return range.lowerBound
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
