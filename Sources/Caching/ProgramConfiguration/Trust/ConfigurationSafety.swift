internal import StorageSPI

/// The values that a file found in the working folder may give a key before the user trusts the file. Every key may be
/// set to its default.
///
/// A folder of unknown origin must not run code, reach a server, read a secret, or lose cached entries.
public enum ConfigurationSafety: Sendable, Hashable {
  /// Any value.
  case anything
  /// A number up to the default. A longer lifetime outlasts the visit to the folder; more requests are a burden.
  case upToDefault
  /// The name of a built-in engine. Any other engine is foreign code.
  case builtInEngine
  /// A path below the home.
  case belowHome
  /// The default only.
  case nothing

  /// Whether a key with `defaultValue` may be set to `value`; both have absolute paths.
  func allows(_ value: ConfigurationValue, over defaultValue: ConfigurationValue?, in places: TrustedPlaces) -> Bool {
    if value == defaultValue { return true }
    switch (self, value, defaultValue) {
    case (.anything, _, _): return true
    case (.upToDefault, .option(.integer(let number)), .option(.integer(let most))?): return number <= most
    case (.builtInEngine, .option(.text(let name)), _): return places.builtInEngines.contains(name)
    case (.belowHome, .option(.text(let path)), _): return places.isBelowHome(path)
    default: return false
    }
  }
}

/// What a file may name without being trusted.
struct TrustedPlaces {
  /// The names of the built-in engines.
  let builtInEngines: [String]
  /// The absolute path of the home.
  let home: String
  let files: any FileInspection

  /// Whether the absolute `path` leads below the home, with links and ".." resolved.
  func isBelowHome(_ path: String) -> Bool {
    guard let place = destination(of: path), let home = destination(of: home) else { return false }
    return place.hasPrefix(home == "/" ? home : home + "/") && place != home
  }

  /// Where `path` leads, which need not exist yet; `nil` if a link on the way leads to nothing.
  private func destination(of path: String) -> String? {
    var place = ""
    for name in path.split(separator: "/") where name != "." {
      if name == ".." {
        place = String(place.prefix(upTo: place.lastIndex(of: "/") ?? place.startIndex))
      } else {
        place += "/" + name
        if let real = files.realPath(of: place) {
          place = real == "/" ? "" : real
        } else if files.target(of: place) != nil {
          return nil
        }
      }
    }
    return place.isEmpty ? "/" : place
  }
}
