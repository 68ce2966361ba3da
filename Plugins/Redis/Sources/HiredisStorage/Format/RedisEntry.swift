internal import StorageSPI

/// An entry as a hash on the server: its fields, and their encoding.
enum RedisEntry {
  /// The metadata fields, in the order in which they are requested.
  static let fields = ["storedAt", "freshUntil", "retainUntil", "contentType", "attributes", "checksum"]

  /// The values of those fields for `metadata`.
  static func values(_ metadata: EntryMetadata) -> [[UInt8]] {
    let times = [metadata.storedAt, metadata.freshUntil, metadata.retainUntil]
    return times.map { Array(String($0.milliseconds).utf8) } + [
      Array(metadata.contentType.utf8), attributes(metadata.attributes),
      Array(Hexadecimal.text(metadata.checksum).utf8),
    ]
  }

  /// The metadata in the fields `values`; `nil` if they are invalid.
  static func metadata(_ values: some Collection<RedisValue>) -> EntryMetadata? {
    let values = Array(values)
    guard values.count >= fields.count, let storedAt = time(values[0]), let freshUntil = time(values[1]),
      let retainUntil = time(values[2]), let contentType = values[3].text, let json = values[4].text,
      let attributes = attributes(json), let checksum = Self.checksum(values[5])
    else { return nil }
    return EntryMetadata(
      storedAt: storedAt, freshUntil: freshUntil, retainUntil: retainUntil, contentType: contentType,
      attributes: attributes, checksum: checksum)
  }

  /// The metadata to report for an unreadable entry: times from its `slot` in the index, and the checksum if it is
  /// valid.
  static func metadata(ofDamaged slot: EntryTally.Slot, _ checksum: RedisValue) -> EntryMetadata {
    func time(_ slot: Int64) -> Timestamp {
      Timestamp(milliseconds: min(max(slot, 0), Timestamp.distantFuture.milliseconds >> 20) << 20)
    }
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: time(slot.freshSlot), retainUntil: time(slot.retainSlot),
      contentType: "", checksum: Self.checksum(checksum) ?? 0)
  }

  /// The checksum in sixteen hexadecimal digits.
  private static func checksum(_ value: RedisValue) -> UInt64? {
    value.text.flatMap { Hexadecimal.number($0.utf8) }
  }

  private static func time(_ value: RedisValue) -> Timestamp? {
    value.number.flatMap {
      $0 < 0 || Timestamp(milliseconds: $0).milliseconds != $0 ? nil : Timestamp(milliseconds: $0)
    }
  }

  /// Attributes as a JSON object, ordered by name.
  private static func attributes(_ attributes: [String: String]) -> [UInt8] {
    var json = [UInt8(ascii: "{")]
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      JSONString.append(name, to: &json)
      json.append(UInt8(ascii: ":"))
      JSONString.append(value, to: &json)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  private static func attributes(_ json: String) -> [String: String]? {
    if json == "{}" { return [:] }
    var (reader, attributes) = (JSONReader(Array(json.utf8)), [String: String]())
    do throws(JSONReader.Failure) {
      try reader.object { reader, name throws(JSONReader.Failure) in attributes[name] = try reader.string() }
      try reader.end()
      return attributes
    } catch {
      return nil
    }
  }
}
