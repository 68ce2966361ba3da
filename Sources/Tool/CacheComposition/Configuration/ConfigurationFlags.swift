/// The command-line options that affect the configuration.
public struct ConfigurationFlags: Sendable, Hashable {
  /// The value of `--config`; `nil` if not given.
  public var file: String?
  /// Whether naming the file vouches for it; false if the command only checks the file.
  public var vouchesForFile = true
  /// The value of `--backend`; `nil` if not given.
  public var backend: String?
  /// The option or argument that gave `backend`.
  public var backendFlag = "--backend"
  /// The value of `--home`; `nil` if not given.
  public var home: String?
  /// The values of `--set`, each written KEY=VALUE; if a key repeats, the last counts.
  public var settings: [String]

  /// The options; without arguments none is set.
  public init(file: String? = nil, backend: String? = nil, home: String? = nil, settings: [String] = []) {
    self.file = file
    self.backend = backend
    self.home = home
    self.settings = settings
  }
}
