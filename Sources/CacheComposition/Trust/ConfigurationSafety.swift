internal import StorageSPI

/// To what a key may be set by a file that was merely found in the working folder, before its user trusts the file.
/// Every key may be set to its default.
///
/// A folder that came from somewhere else must not run code, reach a server, read a secret, or lose what is cached.
enum ConfigurationSafety: Sendable, Hashable {
  /// To any value.
  case anything
  /// To a number up to the default. A longer life outlasts the visit to the folder; more requests are a burden.
  case upToDefault
  /// To the name of a built-in engine. Any other engine is code.
  case builtInEngine
  /// To a path below the home.
  case belowHome
  /// To nothing else.
  case nothing

  /// Whether a key with `defaultValue` may be set to `value`; their paths are absolute.
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

  /// Whether the absolute `path` leads to a place below the home, links and ".." followed.
  func isBelowHome(_ path: String) -> Bool {
    guard let place = destination(of: path), let home = destination(of: home) else { return false }
    return place.hasPrefix(home == "/" ? home : home + "/") && place != home
  }

  /// Where `path` leads, which need not be there yet; `nil` where a link on the way leads to nothing that is there.
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
