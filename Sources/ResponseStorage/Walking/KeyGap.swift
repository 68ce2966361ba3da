internal import StorageSPI

/// A gap within a namespace: keys after which nothing can be listed. It is narrowed down by asking, half-way between the
/// last key known to be in it and the first known to be behind it, whether the store can be listed from there on.
struct KeyGap {
  /// How many places are tried at most: enough for nine characters.
  private static let maximumProbes = 60
  /// The same where not even the end of the namespace can be listed: what lies between is most likely lost.
  private static let maximumProbesOfLost = 12
  /// The characters of keys, as the bytes before the first and behind the last.
  private static let (lowest, highest) = (UInt8(0x20), UInt8(0x7F))

  private let prefix: [UInt8]
  private var low: [UInt8]
  private var high: [UInt8]?
  private var count = 0

  /// The key after which the store can be listed again; `nil` where none was found.
  private(set) var end: CacheKey?

  /// The gap that begins with `range`, whose prefix has a namespace and a slash.
  init(of range: KeyRange) {
    prefix = Array(range.prefix.utf8)
    let after = range.after?.text ?? ""
    low = after.hasPrefix(range.prefix) ? Array(after.utf8.dropFirst(prefix.count)) : []
  }

  /// The next key to list after; `nil` where the gap is as narrow as it gets.
  var probe: CacheKey? {
    guard count < (count > 0 && high == nil ? Self.maximumProbesOfLost : Self.maximumProbes) else { return nil }
    // The first tells whether there is anything behind the gap.
    let middle = count == 0 ? [Self.highest - 1] : Self.middle(low, high)
    return middle.flatMap { try? CacheKey(String(decoding: prefix + $0, as: UTF8.self)) }
  }

  /// Notes that the store can be listed after `probe`.
  mutating func isReadable(after probe: CacheKey) {
    count += 1
    (end, high) = (probe, Array(probe.text.utf8.dropFirst(prefix.count)))
  }

  /// Notes that it cannot.
  mutating func isUnreadable(after probe: CacheKey) {
    // That nothing can be listed at the very end says nothing of what comes before it.
    if count > 0 { low = Array(probe.text.utf8.dropFirst(prefix.count)) }
    count += 1
  }

  /// A text between `low` and `high` (`nil`: behind all), about half-way; `nil` where there is none.
  static func middle(_ low: [UInt8], _ high: [UInt8]?) -> [UInt8]? {
    var (middle, high, index) = ([UInt8](), high, 0)
    while true {
      let first = index < low.count ? low[index] : lowest
      let last = if let high { index < high.count ? high[index] : lowest } else { highest }
      if last > first + 1 { return middle + [first + (last - first) / 2] }
      middle.append(max(first, lowest + 1))
      // Behind the end of the lower one there is only what the higher one begins with.
      if first == lowest, last > first { return middle == high ? nil : middle }
      // Between neighbours there is room only behind the lower one.
      if last > first { high = nil }
      index += 1
    }
  }
}
