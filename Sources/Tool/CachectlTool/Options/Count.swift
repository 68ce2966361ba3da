/// A number as people write large ones: 500, 10k, 1M.
struct Count: ExpressibleByArgument {
  let number: Int

  init?(argument: String) {
    let factor =
      switch argument.last {
      case "k", "K": 1_000
      case "m", "M": 1_000_000
      default: 1
      }
    guard let number = Int(factor == 1 ? argument : String(argument.dropLast())), number >= 0 else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    guard !overflow else { return nil }
    self.number = product
  }

  static var argumentExpectation: String? { "a count such as 500, 10k or 1M" }
}

/// Several counts, separated by commas.
struct CountList: ExpressibleByArgument {
  let numbers: [Int]

  init?(argument: String) {
    let counts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Count(argument: String($0)) }
    guard !counts.contains(where: { $0 == nil }) else { return nil }
    numbers = counts.compactMap { $0?.number }
  }

  static var argumentExpectation: String? { "counts such as 1k,10k,1M" }
}

/// A number of bytes, with or without a unit.
struct ByteCount: ExpressibleByArgument {
  let number: Int

  init?(argument: String) {
    guard let bytes = ByteSizeText(argument)?.bytes ?? Int64(argument), bytes >= 0 else { return nil }
    number = Int(bytes)
  }

  static var argumentExpectation: String? { "a number of bytes such as 1000 or 4KiB" }
}

/// Names, separated by commas.
struct NameList: ExpressibleByArgument {
  let names: [String]

  init?(argument: String) {
    names = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if names.contains("") { return nil }
  }

  static var argumentExpectation: String? { "names with commas between" }
}
