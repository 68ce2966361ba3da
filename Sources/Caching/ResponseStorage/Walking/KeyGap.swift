internal import StorageSPI

/// A gap within a namespace: a range of keys that cannot be listed.
///
/// Most gaps are short, and neighbouring keys begin alike. So the first probes lie after all keys that share a prefix
/// with the first key, with shorter and shorter prefixes. After that, each probe halves the distance between the last
/// key known to be in the gap and the first one known to be behind it.
struct KeyGap {
  /// How many probes to make: enough for nine characters.
  private static let maximumProbes = 60
  /// How many probes to make if not even the end of the namespace can be listed: the rest is most likely lost.
  private static let maximumProbesOfLost = 12
  /// The bytes just before the first and just after the last character of keys.
  private static let (lowest, highest) = (UInt8(0x20), UInt8(0x7F))

  private let prefix: [UInt8]
  private var low: [UInt8]
  private var high: [UInt8]?
  private let start: [UInt8]
  /// How many of the last characters of `start` the next probe leaves out; `nil` once the gap is being halved.
  private var step: Int?
  private var count = 0

  /// The key after which the store can be listed again; `nil` if none was found.
  private(set) var end: CacheKey?

  /// Creates the gap that begins with `range`, whose prefix has a namespace and a slash.
  init(of range: KeyRange) {
    prefix = Array(range.prefix.utf8)
    let after = range.after?.text ?? ""
    start = after.hasPrefix(range.prefix) ? Array(after.utf8.dropFirst(prefix.count)) : []
    low = start
    step = Self.step(in: start, from: 1)
  }

  /// The first of `step`, twice that and so on, that leaves a prefix of `start` with room for keys behind it.
  private static func step(in start: [UInt8], from step: Int) -> Int? {
    sequence(first: step) { $0 * 2 }.prefix { $0 < start.count }.first { start[start.count - $0] < highest - 1 }
  }

  /// The next key to list after; `nil` if the gap cannot be narrowed further.
  var probe: CacheKey? {
    guard count < (count > 0 && high == nil ? Self.maximumProbesOfLost : Self.maximumProbes) else { return nil }
    // The first probe shows whether there is anything behind the gap.
    let place = count == 0 ? [Self.highest - 1] : sharedBeginning ?? Self.middle(low, high)
    return place.flatMap { try? CacheKey(String(decoding: prefix + $0, as: UTF8.self)) }
  }

  /// The place behind all keys that begin like the first one; `nil` once the gap is being halved.
  private var sharedBeginning: [UInt8]? {
    guard high != nil, let step else { return nil }
    return start.dropLast(step) + [Self.highest - 1]
  }

  /// Records that the store can be listed after `probe`.
  mutating func noteReadable(after probe: CacheKey) {
    if count > 0 { step = nil }
    count += 1
    (end, high) = (probe, Array(probe.text.utf8.dropFirst(prefix.count)))
  }

  /// Records that the store cannot be listed after `probe`.
  mutating func noteUnreadable(after probe: CacheKey) {
    // An unreadable end of the namespace says nothing about what comes before it.
    if count > 0 {
      low = Array(probe.text.utf8.dropFirst(prefix.count))
      step = step.flatMap { Self.step(in: start, from: $0 * 2) }
    }
    count += 1
  }

  /// A text about half-way between `low` and `high` (`nil`: the end); `nil` if there is none.
  static func middle(_ low: [UInt8], _ high: [UInt8]?) -> [UInt8]? {
    var (middle, high, index) = ([UInt8](), high, 0)
    while true {
      let first = index < low.count ? low[index] : lowest
      let last = if let high { index < high.count ? high[index] : lowest } else { highest }
      if last > first + 1 { return middle + [first + (last - first) / 2] }
      middle.append(max(first, lowest + 1))
      // After the end of the lower text, only a prefix of the higher one is possible.
      if first == lowest, last > first { return middle == high ? nil : middle }
      // Between neighbouring characters, only texts after the lower one are possible.
      if last > first { high = nil }
      index += 1
    }
  }
}
