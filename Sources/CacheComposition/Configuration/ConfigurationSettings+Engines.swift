internal import StorageSPI

/// The values of the engines' options.
extension ConfigurationSettings {
  /// The values by engine and option. A secret whose variable is not set has none.
  var engineOptions: [String: [String: OptionValue]] {
    var result: [String: [String: OptionValue]] = [:]
    for engine in table.engines {
      var values: [String: OptionValue] = [:]
      for option in engine.options {
        switch self["backends.\(engine.name).\(option.name)"]?.value {
        case .option(let value): values[option.name] = value
        case .secret(let secret): values[option.name] = secret.value.map(OptionValue.text)
        case .list, .headers, nil: break
        }
      }
      result[engine.name] = values
    }
    return result
  }
}
