public import CacheDomain

/// What a migration from one backend to another did, or would do.
public struct MigrationView: SingleRecordView {
  /// The name of the backend that was read.
  public let from: String
  /// The name of the backend that was written.
  public let to: String
  /// The number of entries copied.
  public let copied: Int
  /// The number of entries that were there already, or no longer of use, or older than those there.
  public let skipped: Int
  /// The number of entries read back and found equal.
  public let verified: Int
  /// The sum of the sizes of the copied payloads, in bytes.
  public let bytes: Int
  /// The number of those skipped in place of which a newer one was kept.
  public var kept = 0
  /// The number of those skipped that are no longer of use.
  public var expired = 0
  /// What was not copied because it is damaged.
  public var damage = DamageList()
  /// The entries that differ between the two in the end.
  public var different = KeyList()
  /// Whether nothing was written, only counted.
  public var isDryRun = false
  /// What ought to be known besides.
  public var warnings: [ErrorView] = []

  /// A migration with the given fields.
  public init(from: String, to: String, copied: Int, skipped: Int, verified: Int, bytes: Int) {
    self.from = from
    self.to = to
    self.copied = copied
    self.skipped = skipped
    self.verified = verified
    self.bytes = bytes
  }

  /// The document of `migrate`: "kept" and "expired" are parts of "skipped".
  public var json: JSONValue {
    [
      "from": .string(from), "to": .string(to), "copied": .integer(copied), "skipped": .integer(skipped),
      "verified": .integer(verified), "bytes": .integer(bytes), "kept": .integer(kept), "expired": .integer(expired),
      "damaged": .integer(damage.count), "different": .integer(different.count), "dryRun": .boolean(isDryRun),
    ]
  }

  /// The figures, one a line; reasons and failures where there were any.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    var fields: [(name: String, value: Table.Cell)] = [
      ("From", .init(from, .bold)), ("To", .init(to, .bold)),
      (isDryRun ? "To copy" : "Copied", .init(NumberText.text(copied), .plain)),
      ("Skipped", .init(skippedText, .plain)),
    ]
    if !isDryRun { fields.append(("Verified", .init(NumberText.text(verified), .plain))) }
    fields.append(("Payload", Details.bytes(bytes)))
    for (name, count) in [("Damaged", damage.count), ("Different", different.count)] where count > 0 {
      fields.append((name, .init(NumberText.text(count), .red)))
    }
    return Details.text(fields, on: screen)
  }

  private var skippedText: String {
    let reasons = [(kept, "older than there"), (expired, "expired")].filter { $0.0 > 0 }
    let text = reasons.map { "\(NumberText.text($0.0)) \($0.1)" }.joined(separator: ", ")
    return NumberText.text(skipped) + (text.isEmpty ? "" : " (\(text))")
  }

  /// Whether all is there, as far as it was compared.
  public var status: StatusLine? {
    if isDryRun { return StatusLine(["Nothing was copied: this was a dry run"]) }
    guard failure == nil else { return nil }
    let what = "\(to) has every entry of \(from)" + (kept > 0 ? " or a newer one" : "")
    return StatusLine(["\(what): they were compared one by one"], style: .green)
  }

  /// That entries are missing from the destination, or not the same there; `nil` where all is well.
  public var failure: CacheError? {
    different.failure("of \(to)", ("is", "are"), "not as in \(from)", hint: "migrate again: what is there is skipped")
      ?? damage.failure(of: from, not: "copied")
  }
}
