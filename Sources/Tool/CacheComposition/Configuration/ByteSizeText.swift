/// A number of bytes as people write it in flags and in the configuration: "512KiB", "64MiB", "1GB", "1024B".
///
/// A whole number and one unit: B; KB, MB, GB, TB (powers of 1,000); KiB, MiB, GiB, TiB (powers of 1,024). The canonical
/// text has the largest unit that divides the number, and reads back as exactly the same number.
public struct ByteSizeText: LosslessStringConvertible, Sendable, Hashable, Comparable {
  /// The number of bytes, 0 or more.
  public let bytes: Int64

  /// The size of `bytes`; a negative one becomes 0.
  public init(bytes: Int64) { self.bytes = max(bytes, 0) }

  /// The size written in `text`; `nil` if it is malformed or does not fit into 63 bits.
  public init?(_ text: String) {
    var scanner = QuantityScanner(text)
    guard let (number, name) = scanner.next(), scanner.isAtEnd,
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

  /// Orders by number of bytes.
  public static func < (left: ByteSizeText, right: ByteSizeText) -> Bool { left.bytes < right.bytes }

  /// The same grammar as a regular expression of JSON Schema (ECMA-262).
  static let pattern = "^[0-9]+(B|[KMGT]i?B)$"

  private static let units: [(name: String, bytes: Int64)] = [
    ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20),
    ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1),
  ]
}
