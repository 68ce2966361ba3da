internal import StorageSPI

/// Decodes the tables `tally` and `totals`: each field has a number of entries and of bytes.
enum RedisTally {
  /// The counts in a hash by field, without the fields of a single number; `nil` if the hash is not one of this
  /// engine's.
  static func counts(_ hash: RedisValue) -> [String: EntryTally.Count]? {
    guard let values = hash.elements, values.count.isMultiple(of: 2) else { return nil }
    var counts: [String: EntryTally.Count] = [:]
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let field = values[index].text, let value = values[index + 1].text else { return nil }
      let numbers = value.split(separator: " ").compactMap { Int($0) }
      if numbers.count == 1 { continue }
      guard numbers.count == 2 else { return nil }
      counts[field] = EntryTally.Count(entries: numbers[0], payloadBytes: numbers[1])
    }
    return counts
  }

  /// The slot that a field such as "cities 1611123 1611126" names; `nil` if it names none.
  static func slot(_ field: some StringProtocol) -> EntryTally.Slot? {
    let words = field.split(separator: " ")
    guard words.count == 3, CacheKey.isNamespace(words[0]), let fresh = Int64(words[1]), let retain = Int64(words[2])
    else { return nil }
    return EntryTally.Slot(namespace: String(words[0]), freshSlot: fresh, retainSlot: retain)
  }
}
