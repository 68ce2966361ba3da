/// The options of the command line that bear on the configuration.
public struct ConfigurationFlags: Sendable, Hashable {
  /// The value of `--config`; `nil` where it was not given.
  public var file: String?
  /// Whether naming the file vouches for it; not where the command only checks it.
  public var vouchesForFile = true
  /// The value of `--backend`; `nil` where it was not given.
  public var backend: String?
  /// The option or argument that `backend` is the value of.
  public var backendFlag = "--backend"
  /// The value of `--home`; `nil` where it was not given.
  public var home: String?
  /// The values of `--set`, each written KEY=VALUE; of several with one key the last counts.
  public var settings: [String]

  /// The given options.
  public init(file: String? = nil, backend: String? = nil, home: String? = nil, settings: [String] = []) {
    self.file = file
    self.backend = backend
    self.home = home
    self.settings = settings
  }
}
