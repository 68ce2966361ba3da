public import StorageSPI

extension Configuration {
  /// The option values of `engine`, by option, ready for `EngineConfiguration`; empty if no such engine was declared.
  /// Paths are absolute; a secret whose variable is not set has no value. Secrets are the plain values: do not show
  /// them, show `entries`.
  public func options(of engine: String) -> [String: OptionValue] {
    var values: [String: OptionValue] = [:]
    for option in settings.table.engines.first(where: { $0.name == engine })?.options ?? [] {
      switch settings[ConfigurationKey.path(of: option.name, engine)]?.value {
      case .option(let value): values[option.name] = value
      case .secret(let secret): values[option.name] = secret.value.map(OptionValue.text)
      case .list, .headers, nil: break
      }
    }
    return values
  }

  /// The path of the configured engine's store; `nil` if it has none.
  public var storePath: String? { storePath(of: backend) }

  /// The path of the store of the engine called `backend`; `nil` if it has none.
  public func storePath(of backend: String) -> String? {
    guard case .text(let path)? = options(of: backend)["path"] else { return nil }
    return path
  }
}
