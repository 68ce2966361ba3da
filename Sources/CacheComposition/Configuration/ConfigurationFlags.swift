/// The options of the command line that bear on the configuration.
public struct ConfigurationFlags: Sendable, Hashable {
  /// The value of `--config`; `nil` where it was not given.
  public var file: String?
  /// The value of `--backend`; `nil` where it was not given.
  public var backend: String?
  /// The option or argument that `backend` is the value of.
  public var backendFlag = "--backend"
  /// The value of `--home`; `nil` where it was not given.
  public var home: String?

  /// The given options.
  public init(file: String? = nil, backend: String? = nil, home: String? = nil) {
    self.file = file
    self.backend = backend
    self.home = home
  }
}
