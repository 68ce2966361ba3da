/// The description of a backend.
public struct BackendRow: Sendable, Hashable {
  /// The name.
  public let name: String
  /// The version of the backend, or of the library under it; `nil` if unknown, because the backend is not loaded.
  public let version: String?
  /// What it is, in one line.
  public let summary: String
  /// Where its library is; `nil` if it is built in.
  public let path: String?
  /// Its capabilities, in the order of display.
  public let capabilities: [String]

  /// The description of a backend, loaded or not.
  public init(name: String, version: String?, summary: String, path: String?, capabilities: [String]) {
    self.name = name
    self.version = version
    self.summary = summary
    self.path = path
    self.capabilities = capabilities
  }

  /// Whether it is part of the program.
  public var isBuiltIn: Bool { path == nil }

  /// The names of the members of a backend's document.
  static let columns = ["name", "version", "summary", "builtIn", "path", "capabilities"]

  /// The members of the backend's document, in order.
  var members: [JSONValue.Member] {
    [
      .init("name", .string(name)), .init("version", JSONValue(version)), .init("summary", .string(summary)),
      .init("builtIn", .boolean(isBuiltIn)), .init("path", JSONValue(path)),
      .init("capabilities", JSONValue(capabilities)),
    ]
  }
}
