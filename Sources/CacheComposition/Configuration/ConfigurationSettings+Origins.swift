internal import CacheData
internal import StorageSPI

/// What other keys decide where an origin's own say nothing.
extension ConfigurationSettings {
  /// Fills in the kinds of origins that the environment stands for, and the addresses that a kind knows; reports what
  /// they and a client's key lack.
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

  /// The value of the key at `path`; `nil` where it has none, or none that is a text.
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
