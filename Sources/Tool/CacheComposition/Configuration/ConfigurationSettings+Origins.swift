internal import CacheData
internal import StorageSPI

/// The settings that other keys decide if an origin's own do not.
extension ConfigurationSettings {
  /// Fills in the origin kinds that the environment implies, and the default addresses of the kinds; reports missing
  /// settings of the origins, and a client key without its certificate.
  mutating func completeOrigins() {
    if optionalText("environment") != Configuration.Environment.dev.rawValue {
      follow("origin.cities.kind", Configuration.CitiesOrigin.Kind.propublica.rawValue)
      follow("origin.movies.kind", Configuration.MoviesOrigin.Kind.tmdb.rawValue)
    }
    switch optionalText("origin.cities.kind").flatMap(Configuration.CitiesOrigin.Kind.init) {
    case .http:
      require(
        "origin.cities.baseURL", for: "origin.cities.kind", which: "which kind http needs",
        hint: "give \(ConfigurationKind.url.allowed)")
    case .propublica: address("origin.cities.baseURL", ProPublicaCityOrigin.address, "origin.cities.kind")
    case .sample, nil: break
    }
    if optionalText("origin.movies.kind") == Configuration.MoviesOrigin.Kind.tmdb.rawValue {
      address("origin.movies.baseURL", TMDBMovieOrigin.address, "origin.movies.kind")
      address("origin.movies.imagesBaseURL", TMDBPosterOrigin.address, "origin.movies.kind")
    }
    if self["network.clientKey"] != nil {
      require(
        "network.clientCertificate", for: "network.clientKey", which: "which that key is for",
        hint: "give the path of the certificate")
    }
  }

  /// The text at `path`; `nil` if the key has no value or its value is not a text.
  func optionalText(_ path: String) -> String? {
    guard case .option(.text(let text))? = self[path]?.value else { return nil }
    return text
  }

  private mutating func follow(_ path: String, _ kind: String) {
    if self[path]?.source == .default { derive(path, .text(kind), from: "environment") }
  }

  private mutating func address(_ path: String, _ url: String, _ kind: String) {
    if self[path] == nil { derive(path, .text(url), from: kind) }
  }

  private mutating func require(_ path: String, for other: String, which reason: String, hint: String) {
    guard self[path] == nil, let setting = self[other], !problems.contains(where: { $0.key == path }) else { return }
    report(
      ConfigurationError(
        .missing, "\(setting.source): '\(path)' is missing, \(reason)", hint: hint, key: path, source: setting.source))
  }
}
