/// The environment variables of a process, each looked up on demand.
///
/// A process has many and needs few: making a dictionary of all of them took a tenth of a warm fetch.
public struct EnvironmentVariables: Sendable, ExpressibleByDictionaryLiteral {
  private let value: @Sendable (String) -> String?
  private let names: @Sendable (String) -> [String]

  /// The variables that two functions look up.
  ///
  /// - Parameters:
  ///   - value: returns the value of the variable with the given name; `nil` if there is none.
  ///   - names: returns the names with the given prefix, each once, in any order.
  public init(
    value: @escaping @Sendable (String) -> String?, names: @escaping @Sendable (_ prefix: String) -> [String]
  ) {
    self.value = value
    self.names = names
  }

  /// The variables in the dictionary `variables`.
  public init(_ variables: [String: String]) {
    self.init(value: { variables[$0] }, names: { prefix in variables.keys.filter { $0.hasPrefix(prefix) } })
  }

  /// The variables with the given names and values; if a name repeats, the last counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(Dictionary(elements) { $1 })
  }

  /// The value of the variable called `name`; `nil` if there is none.
  public subscript(name: String) -> String? { value(name) }

  /// The names that begin with `prefix`, in any order.
  func names(beginning prefix: String) -> [String] { names(prefix) }
}
