public import CacheDomain

/// The result of a migration from one backend to another, or of its dry run.
public struct MigrationView: SingleRecordView {
  /// The name of the backend that was read.
  public let from: String
  /// The name of the backend that was written.
  public let to: String
  /// The number of entries copied.
  public let copied: Int
  /// The number of entries skipped because they were already there, had expired, or were older than the ones there.
  public let skipped: Int
  /// The number of entries read back and found equal.
  public let verified: Int
  /// The sum of the sizes of the copied payloads, in bytes.
  public let bytes: Int
  /// The number of entries skipped because the destination has a newer one.
  public var kept = 0
  /// The number of entries skipped because they have expired.
  public var expired = 0
  /// The damage, which was not copied.
  public var damage = DamageList()
  /// The entries that differ between the stores afterwards.
  public var different = KeyList()
  /// Whether entries were only counted, not written.
  public var isDryRun = false
  /// Further warnings.
  public var warnings: [ErrorView] = []

  /// The result of a migration.
  public init(from: String, to: String, copied: Int, skipped: Int, verified: Int, bytes: Int) {
    self.from = from
    self.to = to
    self.copied = copied
    self.skipped = skipped
    self.verified = verified
    self.bytes = bytes
  }

  /// The document of `migrate`: "skipped" includes "kept" and "expired".
  public var json: JSONValue {
    [
      "from": .string(from), "to": .string(to), "copied": .integer(copied), "skipped": .integer(skipped),
      "verified": .integer(verified), "bytes": .integer(bytes), "kept": .integer(kept), "expired": .integer(expired),
      "damaged": .integer(damage.count), "different": .integer(different.count), "dryRun": .boolean(isDryRun),
    ]
  }

  /// The figures, one per line, with reasons and failures if there were any.
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

  /// Whether everything was copied, as far as it was compared.
  public var status: StatusLine? {
    if isDryRun { return StatusLine(["Nothing was copied: this was a dry run"]) }
    guard failure == nil else { return nil }
    let what = "\(to) has every entry of \(from)" + (kept > 0 ? " or a newer one" : "")
    return StatusLine(["\(what): they were compared one by one"], style: .green)
  }

  /// The error that entries are missing from the destination, or differ there; `nil` if all is well.
  public var failure: CacheError? {
    different.failure("of \(to)", ("is", "are"), "not as in \(from)", hint: "migrate again: what is there is skipped")
      ?? damage.failure(of: from, not: "copied")
  }
}
