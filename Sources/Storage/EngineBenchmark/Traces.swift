internal import CacheBase
public import EngineAPI

/// The look-ups of a cache, in order: which key was looked up, and how large its value is.
public struct Trace: Sendable {
  /// The numbers of the keys looked up, in order. Keys are numbered from 0 in the order of their first look-up.
  public private(set) var lookUps: [UInt32] = []
  /// The size of each key's value, in bytes: the one of its first look-up.
  public private(set) var sizes: [Int] = []

  /// Creates an empty trace.
  public init() {}

  /// The number of different keys.
  public var keyCount: Int { sizes.count }

  /// The bytes of all values together.
  public var footprint: Int { sizes.reduce(0, +) }

  /// Adds a look-up of the key `number`, which is at most `keyCount`; if it is `keyCount`, the key is new and its value
  /// has `size` bytes.
  mutating func append(_ number: Int, size: Int) {
    if number == sizes.count { sizes.append(size) }
    lookUps.append(UInt32(truncatingIfNeeded: number))
  }
}

/// A trace that is generated after a published definition. Its values have 1,000 bytes.
public enum GeneratedTrace: String, Sendable, CaseIterable {
  /// Independent look-ups: key `k` of 50,000 in proportion to `1 / k^0.7`.
  case zipfian07 = "zipfian-0.7"
  /// The same with an exponent of 0.9.
  case zipfian09 = "zipfian-0.9"
  /// The same with an exponent of 1.1.
  case zipfian11 = "zipfian-1.1"
  /// `zipfian09`, and after every 10,000 of its look-ups one look-up each of 5,000 keys that never come again.
  case scan
  /// 50,000 keys one after the other, over and over: with a cache of nine tenths of them, the least recently used entry
  /// is always the next one needed.
  case loop
  /// Zipfian look-ups (0.9) of 5,000 keys at a time; after every 50,000 look-ups, half of these are replaced by new
  /// ones.
  case workingSet = "working-set"

  private static let keys = 50_000
  private static let lookUps = 500_000
  private static let size = 1_000

  /// What the trace stands for, in one line.
  public var summary: String {
    switch self {
    case .zipfian07: "popularity falls slowly (Zipf, exponent 0.7)"
    case .zipfian09: "popularity falls as on the web (Zipf, exponent 0.9)"
    case .zipfian11: "a few keys are most of the look-ups (Zipf, exponent 1.1)"
    case .scan: "Zipf 0.9, and again and again many keys that are looked up once"
    case .loop: "all keys one after the other, over and over"
    case .workingSet: "a tenth of the keys at a time, half of them replaced now and then"
    }
  }

  /// The trace. The same seed always gives the same one.
  public func trace(seed: UInt64 = 1) -> Trace {
    var numbering = Numbering(size: Self.size)
    var random = SeededGenerator(seed: seed)
    switch self {
    case .zipfian07: numbering.add(Self.lookUps, of: ZipfianTable(Self.keys, exponent: 0.7), &random)
    case .zipfian09: numbering.add(Self.lookUps, of: ZipfianTable(Self.keys, exponent: 0.9), &random)
    case .zipfian11: numbering.add(Self.lookUps, of: ZipfianTable(Self.keys, exponent: 1.1), &random)
    case .scan:
      let table = ZipfianTable(Self.keys, exponent: 0.9)
      for scan in 0..<33 {
        numbering.add(10_000, of: table, &random)
        for key in 0..<5_000 { numbering.add(Self.keys + scan * 5_000 + key) }
      }
    case .loop: for lookUp in 0..<Self.lookUps { numbering.add(lookUp % Self.keys) }
    case .workingSet:
      let table = ZipfianTable(5_000, exponent: 0.9)
      var keys = Array(0..<5_000)
      for period in 1...10 {
        for _ in 0..<50_000 { numbering.add(keys[table.draw(&random)]) }
        for place in stride(from: 0, to: 5_000, by: 2) { keys[place] = period * 5_000 + place }
      }
    }
    return numbering.trace
  }
}

/// Numbers keys in the order of their first look-up.
private struct Numbering {
  let size: Int
  var trace = Trace()
  private var numbers: [Int: Int] = [:]

  init(size: Int) { self.size = size }

  mutating func add(_ key: Int) {
    let number = numbers[key, default: trace.keyCount]
    if number == trace.keyCount { numbers[key] = number }
    trace.append(number, size: size)
  }

  mutating func add(_ count: Int, of table: ZipfianTable, _ random: inout SeededGenerator) {
    for _ in 0..<count { add(table.draw(&random)) }
  }
}

/// Numbers drawn in proportion to `1 / (number + 1)^exponent`, exactly: by a search in the cumulative sums.
struct ZipfianTable: Sendable {
  private let sums: [Double]

  /// The table for `count` numbers, 1 or more. Cost: one power for each.
  init(_ count: Int, exponent: Double) {
    var sum = 0.0
    sums = (1...count).map { number in
      sum += 1 / pow(Double(number), exponent)
      return sum
    }
  }

  /// Draws a number from 0 up to, but not including, the count.
  func draw(_ random: inout SeededGenerator) -> Int {
    let target = random.unit() * sums[sums.count - 1]
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > target { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Makes a trace of what a cache knows of its entries: how often each was used. Which use followed which is not known,
/// so the look-ups are in random order (the independent reference model): a scan or a loop does not show.
public struct RecordedTrace: Sendable {
  /// The most look-ups of a trace; if there were more, each entry has proportionally fewer.
  private static let maximumLookUps = 2_000_000

  private var entries: [(size: Int, uses: Int)] = []

  /// A record without entries.
  public init() {}

  /// Adds an entry whose value has `size` bytes. Storing it counts as one more use than the `uses` that followed.
  public mutating func add(_ size: Int, uses: Int) { entries.append((size, max(0, uses) + 1)) }

  /// The trace. The same seed always gives the same one.
  ///
  /// - Throws: `CacheError` with the code `notFound` if there are no entries.
  public func trace(seed: UInt64 = 1) throws(CacheError) -> Trace {
    guard !entries.isEmpty else {
      throw CacheError(.notFound, "the store has no entries whose uses could be replayed", hint: "name a trace")
    }
    let total = entries.reduce(0) { $0 + $1.uses }
    let divisor = max(1, (total + Self.maximumLookUps - 1) / Self.maximumLookUps)
    var lookUps: [Int] = []
    for (index, entry) in entries.enumerated() {
      lookUps += Array(repeating: index, count: max(1, entry.uses / divisor))
    }
    var random = SeededGenerator(seed: seed)
    lookUps.shuffle(using: &random)
    var trace = Trace()
    var numbers = [Int?](repeating: nil, count: entries.count)
    for index in lookUps {
      let number = numbers[index] ?? trace.keyCount
      numbers[index] = number
      trace.append(number, size: entries[index].size)
    }
    return trace
  }
}
