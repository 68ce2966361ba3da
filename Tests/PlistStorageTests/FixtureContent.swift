import EngineAPI

/// The content of the stores in `Fixtures`. Never change it, because those stores never change.
enum FixtureContent {
  typealias Entry = EntryTable.Entry

  /// The entries of the whole store.
  static func entries() throws -> [CacheKey: Entry] {
    var entries: [CacheKey: Entry] = [:]
    for (number, (key, payload)) in try (texts() + others()).enumerated() {
      entries[key] = Entry(payload: payload, metadata: metadata(number))
    }
    return entries
  }

  /// The entry that the interrupted batch puts.
  static func put() throws -> (key: CacheKey, entry: Entry) {
    (try CacheKey("cities/new"), Entry(payload: Array("new".utf8), metadata: metadata(90)))
  }

  private static func texts() throws -> [(CacheKey, [UInt8])] {
    try [
      ("cities/v1/order=revenue/page=0", "{\"items\":[{\"name\":\"Zürich\",\"revenue\":12.5}]}"),
      ("cities/empty", ""), ("cities/\"\\%7E~", "\u{0}\u{1F}\u{7F}\u{85}\u{2028}\r\n\t\"\\/"),
      ("movies/" + String(repeating: "k", count: 800) + "1", "long key"),
      ("movies/" + String(repeating: "k", count: CacheKey.maximumLength - 7), "longest key"),
      ("movies/unnormalised", "\u{FEFF}e\u{301} \u{E9} \u{1F600}"), ("leases/1", "lease"),
    ].map { (try CacheKey($0), Array($1.utf8)) }
  }

  private static func others() throws -> [(CacheKey, [UInt8])] {
    [
      (try CacheKey("posters/every"), Array(0...255)), (try CacheKey("posters/invalid"), [0xC0, 0x80]),
      (try CacheKey("posters/large"), (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31) }),
    ]
  }

  /// Each number has other metadata; the first two have the ends of the range of times.
  private static func metadata(_ number: Int) -> EntryMetadata {
    let time = [Timestamp(milliseconds: 0), .distantFuture].dropFirst(number).first
    func moment(_ offset: Int64) -> Timestamp {
      time ?? Timestamp(milliseconds: 1_769_846_950_123 + offset + Int64(number) * 977)
    }
    return EntryMetadata(
      storedAt: moment(0), freshUntil: moment(3_600_000), retainUntil: moment(604_800_000),
      contentType: number.isMultiple(of: 3) ? "" : "type/\(number); note=\"é\"",
      attributes: number.isMultiple(of: 2) ? [:] : ["etag": "W/\"\(number)\"", "": "", "e\u{301}": "\u{0}\n"],
      payloadChecksum: UInt64(number) &* 0xC2B2_AE3D_27D4_EB4F, checksum: UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
  }
}
