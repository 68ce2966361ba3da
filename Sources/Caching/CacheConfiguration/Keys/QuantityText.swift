internal import CacheBase

/// The number and the unit at the beginning of `rest`, which are removed from it; `nil` if a digit or a letter is missing, or
/// the number needs more than 64 bits.
private func nextQuantity(in rest: inout Substring.UTF8View) -> (number: Int64, unit: String)? {
  let digits = rest.prefix(while: \.isASCIIDigit)
  let letters = rest[digits.endIndex...].prefix(while: \.isASCIILetter)
  rest = rest[letters.endIndex...]
  guard !letters.isEmpty, let number = Int64(Substring(digits)) else { return nil }
  return (number, String(Substring(letters)))
}

/// A number of bytes as people write it in flags and in the configuration: "512KiB", "64MiB", "1GB", "1024B".
///
/// A whole number and one unit: B; KB, MB, GB, TB (powers of 1,000); KiB, MiB, GiB, TiB (powers of 1,024). The canonical
/// text has the largest unit that divides the number, and reads back as exactly the same number.
public struct ByteSizeText: LosslessStringConvertible, Sendable, Hashable {
  /// The number of bytes, 0 or more.
  public let bytes: Int64

  /// The size of `bytes`; a negative one becomes 0.
  public init(bytes: Int64) { self.bytes = max(bytes, 0) }

  /// The size written in `text`; `nil` if it is malformed or does not fit into 63 bits.
  public init?(_ text: String) {
    var rest = text[...].utf8
    guard let (number, name) = nextQuantity(in: &rest), rest.isEmpty,
      let unit = Self.units.first(where: { $0.name == name })
    else { return nil }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
    if overflow { return nil }
    self.bytes = bytes
  }

  /// The canonical text.
  public var description: String {
    for unit in Self.units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
      return "\(bytes / unit.bytes)\(unit.name)"
    }
    return "0B"
  }

  /// The same grammar as a regular expression of JSON Schema (ECMA-262).
  static let pattern = "^[0-9]+(B|[KMGT]i?B)$"

  private static let units: [(name: String, bytes: Int64)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20),
    ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1),
  ]
}

/// A length of time as people write it in flags and in the configuration: "90s", "5m", "1h30m", "7d", "250ms".
///
/// One or more whole numbers, each with a unit out of d, h, m, s, ms, the larger units first and each at most once. The
/// canonical text is the one with the fewest parts ("90s" becomes "1m30s"), and reads back as exactly the same length.
public struct DurationText: LosslessStringConvertible, Sendable, Hashable {
  /// The length in milliseconds, 0 or more.
  public let milliseconds: Int64

  /// The length of `milliseconds`; a negative one becomes 0.
  public init(milliseconds: Int64) { self.milliseconds = max(milliseconds, 0) }

  /// The length of `duration` without fractions of a millisecond, clamped to the range of `milliseconds`.
  public init(_ duration: Duration) { self.init(milliseconds: duration.wholeMilliseconds) }

  /// The length written in `text`; `nil` if it is malformed or does not fit into 64 bits of milliseconds.
  public init?(_ text: String) {
    var rest = text[...].utf8
    var units = Self.units[...]
    var total: Int64 = 0
    repeat {
      guard let (number, name) = nextQuantity(in: &rest) else { return nil }
      guard let position = units.firstIndex(where: { $0.name == name }) else { return nil }
      let (part, overflow) = number.multipliedReportingOverflow(by: units[position].milliseconds)
      let (sum, sumOverflow) = total.addingReportingOverflow(part)
      if overflow || sumOverflow { return nil }
      total = sum
      units = units[(position + 1)...]
    } while !rest.isEmpty
    self.milliseconds = total
  }

  /// The length as the standard library's type.
  public var duration: Duration { .milliseconds(milliseconds) }

  /// The canonical text.
  public var description: String {
    var rest = milliseconds
    var text = ""
    for unit in Self.units where rest >= unit.milliseconds {
      text += "\(rest / unit.milliseconds)\(unit.name)"
      rest %= unit.milliseconds
    }
    return text.isEmpty ? "0s" : text
  }

  /// The same grammar as a regular expression of JSON Schema (ECMA-262).
  static let pattern = "^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"

  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]
}
