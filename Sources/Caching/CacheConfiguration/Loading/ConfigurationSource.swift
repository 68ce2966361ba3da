public import EngineAPI

/// The source of a key's value.
public enum ConfigurationSource: Sendable, Hashable, CustomStringConvertible {
  /// The flag of that name, with its dashes.
  case flag(String)
  /// The environment variable of that name.
  case variable(String)
  /// The file at that absolute path, and the place of the value in it.
  case file(String, SourcePlace)
  /// Another key, with this path, decides it.
  case derived(String)
  /// The default: no other source has a value.
  case `default`

  /// The source in a few words, such as "/etc/weather.json:3:5", "WEATHER_HOME" or "default".
  public var description: String {
    switch self {
    case .flag(let name): name
    case .variable(let name): name.shownKey
    case .file(let path, let place): "\(path):\(place)"
    case .derived(let key): "follows from \(key)"
    case .default: "default"
    }
  }

  /// The order of mistakes, and the place of one in the file.
  var rank: (Int, Int, Int) {
    switch self {
    case .file(_, let place): (0, place.line, place.column)
    case .variable: (1, 0, 0)
    case .flag: (2, 0, 0)
    case .derived, .default: (3, 0, 0)
    }
  }
}

/// The program's arguments about the configuration: they override everything else.
public struct ConfigurationFlags: Sendable, Hashable {
  /// The path of the file; `nil` if not given.
  public var file: String?
  /// The name of the engine, or the path of its library; `nil` if not given.
  public var backend: String?
  /// The name of `backend` in messages; `nil` for the name of the program's argument.
  public var backendFlag: String?
  /// The folder for stores; `nil` if not given.
  public var home: String?
  /// Settings, each written KEY=VALUE; if a key repeats, the last counts.
  public var settings: [String]

  /// The options; without arguments none is set.
  public init(file: String? = nil, backend: String? = nil, home: String? = nil, settings: [String] = []) {
    self.file = file
    self.backend = backend
    self.home = home
    self.settings = settings
  }
}

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
  package func names(beginning prefix: String) -> [String] { names(prefix) }
}
