internal import CachectlArguments

/// The size of a simulated cache: a share of the trace's values, or a number of bytes.
struct CacheSize: Sendable, Hashable {
  private enum Amount: Hashable {
    case share(Double)
    case bytes(Int)
  }

  /// The size as the user wrote it.
  let text: String
  private let amount: Amount

  /// Parses "5%", "0.1%" or "64MiB".
  init?(_ text: String) {
    self.text = text
    if text.hasSuffix("%") {
      guard let percent = Double(text.dropLast()), percent > 0, percent <= 100 else { return nil }
      amount = .share(percent / 100)
    } else {
      guard let count = ByteCount(argument: text), count.number > 0 else { return nil }
      amount = .bytes(count.number)
    }
  }

  /// How many of `count` values of the same size, with `footprint` bytes together, have room.
  func entries(of count: Int, footprint: Int) -> Int {
    switch amount {
    case .share(let share): Int((Double(count) * share).rounded())
    case .bytes(let bytes):
      footprint == 0 ? count : Int((Double(count) * Double(bytes) / Double(footprint)).rounded(.down))
    }
  }

  /// How many of `footprint` bytes have room.
  func bytes(of footprint: Int) -> Int {
    switch amount {
    case .share(let share): Int((Double(footprint) * share).rounded())
    case .bytes(let bytes): bytes
    }
  }
}

/// Sizes, separated by commas.
struct CacheSizeList: ExpressibleByArgument {
  /// What `simulate` takes without `--sizes`.
  static let standard = "1%,2%,5%,10%,20%,50%,90%"

  let sizes: [CacheSize]

  init?(argument: String) {
    let sizes = argument.split(separator: ",", omittingEmptySubsequences: false).map { CacheSize(String($0)) }
    guard !sizes.contains(nil) else { return nil }
    var distinct: [CacheSize] = []
    for case let size? in sizes where !distinct.contains(size) { distinct.append(size) }
    self.sizes = distinct
  }

  static var argumentExpectation: String? { "sizes such as 1%,5%,64MiB" }
}
