/// The environment variables of a process, each of them looked for when it is asked for.
///
/// A process is given many and asks for few: to make a dictionary of all of them took a tenth of a warm fetch.
public struct EnvironmentVariables: Sendable, ExpressibleByDictionaryLiteral {
  private let value: @Sendable (String) -> String?
  private let names: @Sendable (String) -> [String]

  /// The variables that two functions know.
  ///
  /// - Parameters:
  ///   - value: gives the value of the variable of a name; `nil` where there is none.
  ///   - names: gives the names that begin with a prefix, each once, in any order.
  public init(
    value: @escaping @Sendable (String) -> String?, names: @escaping @Sendable (_ prefix: String) -> [String]
  ) {
    self.value = value
    self.names = names
  }

  /// The variables in `variables`, under their names.
  public init(_ variables: [String: String]) {
    self.init(value: { variables[$0] }, names: { prefix in variables.keys.filter { $0.hasPrefix(prefix) } })
  }

  /// The variables of the given names and values; of several with one name the last counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(Dictionary(elements) { $1 })
  }

  /// The value of the variable called `name`; `nil` where there is none.
  public subscript(name: String) -> String? { value(name) }

  /// The names that begin with `prefix`, in any order.
  func names(beginning prefix: String) -> [String] { names(prefix) }
}
