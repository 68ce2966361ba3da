internal import StorageSPI

/// A gap within a namespace: keys after which nothing can be listed.
///
/// Most gaps are short, and keys that follow each other begin alike. So the first probes lie behind all keys that share
/// ever less of the beginning of the first one. Then the gap is narrowed down half-way between the last key known to be
/// in it and the first known to be behind it.
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
  private let start: [UInt8]
  /// How many of the last characters of `start` the next probe leaves out; `nil` where the gap is narrowed down.
  private var step: Int?
  private var count = 0

  /// The key after which the store can be listed again; `nil` where none was found.
  private(set) var end: CacheKey?

  /// The gap that begins with `range`, whose prefix has a namespace and a slash.
  init(of range: KeyRange) {
    prefix = Array(range.prefix.utf8)
    let after = range.after?.text ?? ""
    start = after.hasPrefix(range.prefix) ? Array(after.utf8.dropFirst(prefix.count)) : []
    low = start
    step = Self.step(in: start, from: 1)
  }

  /// The first of `step`, twice that and so on that leaves something of `start` behind which keys may lie.
  private static func step(in start: [UInt8], from step: Int) -> Int? {
    sequence(first: step) { $0 * 2 }.prefix { $0 < start.count }.first { start[start.count - $0] < highest - 1 }
  }

  /// The next key to list after; `nil` where the gap is as narrow as it gets.
  var probe: CacheKey? {
    guard count < (count > 0 && high == nil ? Self.maximumProbesOfLost : Self.maximumProbes) else { return nil }
    // The first tells whether there is anything behind the gap.
    let place = count == 0 ? [Self.highest - 1] : sharedBeginning ?? Self.middle(low, high)
    return place.flatMap { try? CacheKey(String(decoding: prefix + $0, as: UTF8.self)) }
  }

  /// Behind all keys that begin as the first one does; `nil` where the gap is narrowed down.
  private var sharedBeginning: [UInt8]? {
    guard high != nil, let step else { return nil }
    return start.dropLast(step) + [Self.highest - 1]
  }

  /// Notes that the store can be listed after `probe`.
  mutating func isReadable(after probe: CacheKey) {
    if count > 0 { step = nil }
    count += 1
    (end, high) = (probe, Array(probe.text.utf8.dropFirst(prefix.count)))
  }

  /// Notes that it cannot.
  mutating func isUnreadable(after probe: CacheKey) {
    // That nothing can be listed at the very end says nothing of what comes before it.
    if count > 0 {
      low = Array(probe.text.utf8.dropFirst(prefix.count))
      step = step.flatMap { Self.step(in: start, from: $0 * 2) }
    }
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
