internal import StorageSPI

/// An entry as a hash on the server: its fields, and how they are written.
enum RedisEntry {
  /// The fields that say what is known of the payload, in the order in which they are asked for.
  static let fields = ["storedAt", "freshUntil", "retainUntil", "contentType", "attributes", "checksum"]

  /// The values of those fields for `metadata`.
  static func values(_ metadata: EntryMetadata) -> [[UInt8]] {
    let times = [metadata.storedAt, metadata.freshUntil, metadata.retainUntil]
    return times.map { Array(String($0.milliseconds).utf8) } + [
      Array(metadata.contentType.utf8), attributes(metadata.attributes),
      Array(Hexadecimal.text(metadata.checksum).utf8),
    ]
  }

  /// The metadata of which `values` are the fields; `nil` where they cannot be.
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

  /// What is said of an entry that cannot be read, of which the index has `slot`: times within it, and the checksum where
  /// it is one.
  static func metadata(ofDamaged slot: EntryTally.Slot, _ checksum: RedisValue) -> EntryMetadata {
    func time(_ slot: Int64) -> Timestamp {
      Timestamp(milliseconds: min(max(slot, 0), Timestamp.distantFuture.milliseconds >> 20) << 20)
    }
    return EntryMetadata(
      storedAt: Timestamp(milliseconds: 0), freshUntil: time(slot.freshSlot), retainUntil: time(slot.retainSlot),
      contentType: "", checksum: Self.checksum(checksum) ?? 0)
  }

  /// The checksum that sixteen hexadecimal digits write.
  private static func checksum(_ value: RedisValue) -> UInt64? {
    value.text.flatMap { Hexadecimal.number($0.utf8) }
  }

  private static func time(_ value: RedisValue) -> Timestamp? {
    value.number.flatMap {
      $0 < 0 || Timestamp(milliseconds: $0).milliseconds != $0 ? nil : Timestamp(milliseconds: $0)
    }
  }

  /// Attributes are a JSON object, in the order of their names.
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
