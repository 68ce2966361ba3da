internal import CommandLineKit

/// Names, separated by commas.
struct NameList: ExpressibleByArgument {
  let names: [String]

  init?(argument: String) {
    names = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if names.contains("") { return nil }
  }

  static var argumentExpectation: String? { "names with commas between" }
}
